"""A GPU driver handed in: no test machine has one."""

from collections.abc import Callable
from dataclasses import dataclass, field

from cacheroute.agent.gpu import NvmlMemory, NvmlUtilisation

MIB = 1024 * 1024


class FakeNvmlError(Exception):
    """What the driver says instead of an answer."""


class FakeNotSupportedError(FakeNvmlError):
    """The driver knows no answer to this question on this GPU."""


@dataclass
class FakeRates:
    gpu: int


@dataclass
class FakeMemory:
    used: int
    total: int
    free: int


@dataclass
class FakeGpu:
    """One GPU; an exception in the place of a value is raised."""

    uuid: str | bytes | Exception = "GPU-1"
    name: str | bytes | Exception = "H100"
    util: int | Exception = 40
    used_mb: int | Exception = 10_000
    temperature: int | Exception = 55
    old_temperature: int | Exception = 54
    power_mw: int | Exception = 123_456
    handle: Exception | None = None


@dataclass
class FakeNvml:
    """Fits where `pynvml` fits."""

    gpus: list[FakeGpu] = field(default_factory=list)
    init_error: Exception | None = None
    count_error: Exception | None = None
    calls: list[str] = field(default_factory=list)
    on_count: Callable[[], None] = lambda: None

    NVMLError: type[Exception] = FakeNvmlError
    NVMLError_NotSupported: type[Exception] = FakeNotSupportedError
    NVML_TEMPERATURE_GPU: int = 0

    def nvmlInit(self) -> None:  # noqa: N802
        self.calls.append("init")
        if self.init_error:
            raise self.init_error

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.calls.append("shutdown")

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        self.on_count()
        if self.count_error:
            raise self.count_error
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> object:  # noqa: N802
        if error := self.gpus[index].handle:
            raise error
        return self.gpus[index]

    def nvmlDeviceGetUUID(self, handle: object) -> str | bytes:  # noqa: N802
        return _answer(_gpu(handle).uuid)

    def nvmlDeviceGetName(self, handle: object) -> str | bytes:  # noqa: N802
        return _answer(_gpu(handle).name)

    def nvmlDeviceGetUtilizationRates(self, handle: object) -> NvmlUtilisation:  # noqa: N802
        return FakeRates(gpu=_number(_gpu(handle).util))

    def nvmlDeviceGetMemoryInfo(self, handle: object) -> NvmlMemory:  # noqa: N802
        used = _number(_gpu(handle).used_mb)
        return FakeMemory(used=used * MIB, total=80_000 * MIB, free=(80_000 - used) * MIB)

    def nvmlDeviceGetTemperatureV(self, handle: object, sensor: int) -> int:  # noqa: N802
        return _number(_gpu(handle).temperature)

    def nvmlDeviceGetTemperature(self, handle: object, sensor: int) -> int:  # noqa: N802
        return _number(_gpu(handle).old_temperature)

    def nvmlDeviceGetPowerUsage(self, handle: object) -> int:  # noqa: N802
        return _number(_gpu(handle).power_mw)


def _gpu(handle: object) -> FakeGpu:
    assert isinstance(handle, FakeGpu)
    return handle


def _answer(value: str | bytes | Exception) -> str | bytes:
    if isinstance(value, Exception):
        raise value
    return value


def _number(value: int | Exception) -> int:
    if isinstance(value, Exception):
        raise value
    return value
