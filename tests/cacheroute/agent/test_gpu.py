from collections.abc import Sequence

import pytest

from cacheroute.agent.gpu import GpuReading, GpuSampler
from cacheroute.agent.window import Utilisation
from cacheroute.core.clock import Instant
from tests.cacheroute.agent.fake_nvml import (
    FakeGpu,
    FakeNotSupportedError,
    FakeNvml,
    FakeNvmlError,
)

NOT_SUPPORTED = FakeNotSupportedError("Not Supported")
LOST = FakeNvmlError("GPU is lost")


def at(mono_s: float) -> Instant:
    return Instant(mono_s=mono_s, wall_s=1_800_000_000 + mono_s)


def sampler(gpus: Sequence[FakeGpu]) -> GpuSampler:
    return GpuSampler(FakeNvml(gpus=list(gpus)), window_s=5.0, max_samples=20)


def sample_one(gpu: FakeGpu) -> GpuReading:
    (reading,) = sampler([gpu]).sample(at(0))
    return reading


def test_a_healthy_gpu_is_read_field_by_field() -> None:
    assert sample_one(FakeGpu()) == GpuReading(
        index=0,
        uuid="GPU-1",
        name="H100",
        utilisation=Utilisation(current_pct=40, average_pct=40.0, max_pct=40, count=1),
        raw_value="40",
        quality="ok",
        error=None,
        memory_used_mb=10_000,
        memory_total_mb=80_000,
        memory_free_mb=70_000,
        temperature_c=55,
        power_w=123.5,
        sampled=at(0),
    )


def test_a_driver_without_gpus_reads_nothing() -> None:
    assert sampler([]).sample(at(0)) == ()


def test_a_partitioned_gpu_has_memory_but_no_utilisation() -> None:
    reading = sample_one(FakeGpu(util=NOT_SUPPORTED, power_mw=NOT_SUPPORTED))

    assert reading.quality == "unsupported"
    assert reading.error == "Not Supported"
    assert reading.utilisation == Utilisation()
    assert reading.memory_used_mb == 10_000
    assert reading.power_w is None
    assert not reading.is_usable


def test_a_gpu_with_shared_memory_has_no_memory_of_its_own() -> None:
    reading = sample_one(FakeGpu(used_mb=NOT_SUPPORTED))

    assert (reading.memory_used_mb, reading.memory_total_mb, reading.memory_free_mb) == (None,) * 3
    assert reading.is_usable


def test_a_value_that_is_no_percentage_is_invalid_and_shown_raw() -> None:
    reading = sample_one(FakeGpu(util=4_294_967_295))

    assert (reading.quality, reading.raw_value) == ("invalid", "4294967295")
    assert reading.utilisation.count == 0


def test_an_idle_gpu_is_a_measured_zero() -> None:
    assert sample_one(FakeGpu(util=0)).utilisation.average_pct == 0.0


def test_an_old_driver_is_asked_for_the_temperature_in_the_old_way() -> None:
    gpu = FakeGpu(temperature=FakeNvmlError("Function Not Found"))

    assert sample_one(gpu).temperature_c == 54
    gpu.old_temperature = NOT_SUPPORTED
    assert sample_one(gpu).temperature_c is None


def test_names_of_older_bindings_come_as_bytes() -> None:
    reading = sample_one(FakeGpu(uuid=b"GPU-1", name=b"H\xff"))

    assert (reading.uuid, reading.name) == ("GPU-1", "H\ufffd")


def test_a_lost_gpu_does_not_hide_the_others() -> None:
    lost, fine = sampler([FakeGpu(handle=LOST), FakeGpu(uuid="GPU-2")]).sample(at(0))

    assert lost == GpuReading(index=0, quality="command_error", error="GPU is lost", sampled=at(0))
    assert (fine.index, fine.uuid, fine.quality) == (1, "GPU-2", "ok")


def test_one_failed_reading_keeps_the_average_of_the_window() -> None:
    gpu = FakeGpu(util=80)
    gpus = sampler([gpu])
    gpus.sample(at(0))
    gpu.util = LOST

    (reading,) = gpus.sample(at(1))

    assert reading.utilisation == Utilisation(
        current_pct=None, average_pct=80.0, max_pct=80, count=1
    )
    assert reading.quality == "command_error"
    assert reading.is_usable


def test_a_window_follows_its_gpu_when_the_numbers_change() -> None:
    first, second = FakeGpu(uuid="GPU-1", util=100), FakeGpu(uuid="GPU-2", util=0)
    nvml = FakeNvml(gpus=[first, second])
    gpus = GpuSampler(nvml, window_s=5.0, max_samples=20)
    gpus.sample(at(0))
    nvml.gpus = [second]

    (reading,) = gpus.sample(at(1))

    assert reading.utilisation.max_pct == 0


def test_gpus_without_a_uuid_have_windows_by_number() -> None:
    gpus = sampler([FakeGpu(uuid=LOST, util=10), FakeGpu(uuid=LOST, util=30)])
    gpus.sample(at(0))

    assert [each.utilisation.average_pct for each in gpus.sample(at(1))] == [10.0, 30.0]


def test_a_gpu_that_went_away_takes_its_window_along() -> None:
    gpu = FakeGpu(util=100)
    nvml = FakeNvml(gpus=[gpu])
    gpus = GpuSampler(nvml, window_s=5.0, max_samples=20)
    gpus.sample(at(0))
    nvml.gpus = []
    gpus.sample(at(1))
    nvml.gpus, gpu.util = [gpu], 0

    assert gpus.sample(at(2))[0].utilisation.max_pct == 0


def test_a_driver_that_cannot_count_its_gpus_fails_as_a_whole() -> None:
    gpus = GpuSampler(FakeNvml(count_error=LOST), window_s=5.0, max_samples=20)

    with pytest.raises(FakeNvmlError, match="GPU is lost"):
        gpus.sample(at(0))
