import subprocess
import sys
import threading
from collections.abc import Callable

from cacheroute.agent.gpu import Nvml
from cacheroute.agent.watch import GpuWatch
from cacheroute.core.clock import Instant
from tests.cacheroute.agent.fake_nvml import FakeGpu, FakeNvml, FakeNvmlError

DEADLINE_S = 10.0


class FixedClock:
    def now(self) -> Instant:
        return Instant(mono_s=1.0, wall_s=1_800_000_000.0)


def watch(load: Callable[[], Nvml]) -> GpuWatch:
    return GpuWatch(
        FixedClock(),
        interval_s=0.001,
        window_s=5.0,
        max_samples=3,
        load=load,
        retry_s=0.001,
    )


def test_before_the_first_answer_there_is_no_gpu_and_a_reason() -> None:
    report = watch(FakeNvml).latest

    assert report.gpus == ()
    assert report.error == "the GPU driver has not answered yet"


def test_the_driver_is_asked_again_and_again_and_let_go_at_the_end() -> None:
    asked = threading.Semaphore(0)
    nvml = FakeNvml(gpus=[FakeGpu()], on_count=lambda: asked.release())
    gpus = watch(lambda: nvml)

    gpus.start()
    for _ in range(5):
        assert asked.acquire(timeout=DEADLINE_S)
    gpus.stop()

    assert gpus.latest.error is None
    assert gpus.latest.gpus[0].utilisation.count == 3
    assert nvml.calls == ["init", "shutdown"]


def test_no_driver_is_a_reason_and_is_tried_again() -> None:
    tried = threading.Semaphore(0)

    def load() -> Nvml:
        tried.release()
        return FakeNvml(init_error=FakeNvmlError("NVML Shared Library Not Found"))

    gpus = watch(load)
    gpus.start()
    for _ in range(3):
        assert tried.acquire(timeout=DEADLINE_S)
    gpus.stop()

    assert gpus.latest.gpus == ()
    assert gpus.latest.error == "NVML Shared Library Not Found"


def test_a_missing_binding_is_a_reason_too() -> None:
    tried = threading.Semaphore(0)

    def load() -> Nvml:
        tried.release()
        raise ImportError("No module named 'pynvml'")

    gpus = watch(load)
    gpus.start()
    for _ in range(2):
        assert tried.acquire(timeout=DEADLINE_S)
    gpus.stop()

    assert gpus.latest.error == "No module named 'pynvml'"


def test_a_driver_that_fails_as_a_whole_is_opened_anew() -> None:
    asked = threading.Semaphore(0)
    nvml = FakeNvml(count_error=FakeNvmlError("Unknown Error"), on_count=lambda: asked.release())
    gpus = watch(lambda: nvml)

    gpus.start()
    for _ in range(2):
        assert asked.acquire(timeout=DEADLINE_S)
    gpus.stop()

    assert nvml.calls[:2] == ["init", "init"]
    assert gpus.latest.gpus == ()
    assert gpus.latest.error == "Unknown Error"


def test_a_driver_that_holds_a_call_does_not_hold_the_end() -> None:
    holding, released = threading.Event(), threading.Event()

    def hold() -> None:
        holding.set()
        released.wait(DEADLINE_S)

    gpus = watch(lambda: FakeNvml(gpus=[FakeGpu()], on_count=hold))
    gpus.start()
    assert holding.wait(DEADLINE_S)

    gpus.stop()

    assert gpus.latest.gpus == ()
    released.set()


def test_the_binding_is_loaded_only_when_it_is_asked_for() -> None:
    program = "import sys, cacheroute.agent.app; sys.exit('pynvml' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)

    assert done.returncode == 0
