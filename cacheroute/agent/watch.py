"""Asks NVML on a thread of its own.

A driver in trouble can hold a call for minutes; the snapshot must go on meanwhile, with
GPU readings that are seen to grow old. No driver is a state, not an error: it is tried
again now and then, since drivers are loaded late and replaced.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass

from cacheroute.agent.gpu import GpuReading, GpuSampler, Nvml
from cacheroute.core.clock import Clock

RETRY_S = 60.0
_JOIN_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReport:
    """The newest word on this host's GPUs."""

    gpus: tuple[GpuReading, ...] = ()
    """In NVML's order; empty when there are none or nobody could be asked."""
    error: str | None = None
    """Why nobody could be asked; None when the driver answered."""


def load_pynvml() -> Nvml:
    """Import the binding; raises ImportError. Loading it late keeps hosts without GPU light."""
    import pynvml

    module: Nvml = pynvml
    return module


class GpuWatch:
    """Holds the newest report; `start` and `stop` come in a pair."""

    def __init__(
        self,
        clock: Clock,
        *,
        interval_s: float,
        window_s: float,
        max_samples: int,
        load: Callable[[], Nvml] = load_pynvml,
        retry_s: float = RETRY_S,
    ) -> None:
        self.latest = GpuReport(error="the GPU driver has not answered yet")
        """Replaced whole by the thread; reading it is safe from anywhere."""
        self._clock = clock
        self._interval_s = interval_s
        self._window_s = window_s
        self._max_samples = max_samples
        self._load = load
        self._retry_s = retry_s
        self._stopping = threading.Event()
        # A daemon: a call that the driver holds must not hold the end of the process.
        self._thread = threading.Thread(target=self._run, name="gpu-watch", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def stop(self) -> None:
        """Ask no more; waits a moment for the driver to be let go in order."""
        self._stopping.set()
        self._thread.join(_JOIN_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._session()
            self._stopping.wait(self._retry_s)

    def _session(self) -> None:
        """Ask until told to stop, or until the driver fails as a whole."""
        try:
            nvml = self._load()
        except ImportError as error:
            self.latest = GpuReport(error=str(error))
            return
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            self.latest = GpuReport(error=str(error))
            return
        sampler = GpuSampler(nvml, window_s=self._window_s, max_samples=self._max_samples)
        try:
            while not self._stopping.is_set():
                self.latest = GpuReport(gpus=sampler.sample(self._clock.now()))
                self._stopping.wait(self._interval_s)
            nvml.nvmlShutdown()
        except nvml.NVMLError as error:
            self.latest = GpuReport(error=str(error))
