"""What NVML says of each GPU, field by field.

A GPU that refuses one question may answer the others (a partitioned one has no
utilisation, a passive one no power), so every question fails on its own.
"""

# ruff: noqa: N802  # the names are NVML's

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from cacheroute.agent.window import Utilisation, UtilisationWindow
from cacheroute.core.clock import Instant

_BYTES_PER_MIB = 1024 * 1024
_Answer = TypeVar("_Answer")


class NvmlUtilisation(Protocol):
    """Percent of time a kernel ran, over the driver's own short period."""

    @property
    def gpu(self) -> int:
        """0 to 100."""
        ...


class NvmlMemory(Protocol):
    """Bytes."""

    @property
    def used(self) -> int:
        """Allocated, the driver's share included."""
        ...

    @property
    def total(self) -> int:
        """Installed."""
        ...

    @property
    def free(self) -> int:
        """Not allocated."""
        ...


class Nvml(Protocol):
    """The part of `pynvml` that is used here; the module itself fits."""

    NVMLError: type[Exception]
    NVMLError_NotSupported: type[Exception]
    NVML_TEMPERATURE_GPU: int

    def nvmlInit(self) -> None: ...
    def nvmlShutdown(self) -> None: ...
    def nvmlDeviceGetCount(self) -> int: ...
    def nvmlDeviceGetHandleByIndex(self, index: int) -> object: ...
    def nvmlDeviceGetUUID(self, handle: object) -> str | bytes: ...
    def nvmlDeviceGetName(self, handle: object) -> str | bytes: ...
    def nvmlDeviceGetUtilizationRates(self, handle: object) -> NvmlUtilisation: ...
    def nvmlDeviceGetMemoryInfo(self, handle: object) -> NvmlMemory: ...
    def nvmlDeviceGetTemperature(self, handle: object, sensor: int) -> int: ...
    def nvmlDeviceGetTemperatureV(self, handle: object, sensor: int) -> int: ...
    def nvmlDeviceGetPowerUsage(self, handle: object) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuReading:
    """One GPU at one moment; None where it gave no answer."""

    index: int
    """Its number in NVML's order, whatever CUDA_VISIBLE_DEVICES says."""
    uuid: str | None = None
    """Stays the same over restarts and renumbering."""
    name: str | None = None
    """The product's name."""
    utilisation: Utilisation = Utilisation()  # noqa: RUF009  # it is frozen
    """Over the window."""
    raw_value: str | None = None
    """The utilisation as the driver gave it."""
    quality: str = "ok"
    """`ok`, `invalid` (not a percentage), `unsupported` or `command_error`."""
    error: str | None = None
    """Why there is no newest utilisation, in the driver's words."""
    memory_used_mb: int | None = None
    """MiB."""
    memory_total_mb: int | None = None
    """MiB."""
    memory_free_mb: int | None = None
    """MiB."""
    temperature_c: int | None = None
    """Of the chip."""
    power_w: float | None = None
    """Drawn now."""
    sampled: Instant
    """When it was asked."""

    @property
    def is_usable(self) -> bool:
        """Whether the window holds a utilisation, be the newest reading good or not."""
        return self.utilisation.count > 0


class GpuSampler:
    """Asks every GPU once per `sample`; remembers only the windows."""

    def __init__(self, nvml: Nvml, *, window_s: float, max_samples: int) -> None:
        self._nvml = nvml
        self._window_s = window_s
        self._max_samples = max_samples
        self._windows: dict[str, UtilisationWindow] = {}

    def sample(self, now: Instant) -> tuple[GpuReading, ...]:
        """Read all GPUs; raises NVMLError when not even their number can be had."""
        count = self._nvml.nvmlDeviceGetCount()
        kept: dict[str, UtilisationWindow] = {}
        readings = tuple(self._read(index, now, kept) for index in range(count))
        self._windows = kept
        return readings

    def _read(self, index: int, now: Instant, kept: dict[str, UtilisationWindow]) -> GpuReading:
        nvml = self._nvml
        handle, lost = self._ask(lambda: nvml.nvmlDeviceGetHandleByIndex(index))
        if lost is not None:
            # Without a handle there is no uuid: the windows of lost GPUs start afresh.
            return GpuReading(index=index, quality="command_error", error=str(lost), sampled=now)
        uuid, _ = self._ask(lambda: _text(nvml.nvmlDeviceGetUUID(handle)))
        name, _ = self._ask(lambda: _text(nvml.nvmlDeviceGetName(handle)))
        raw, failure = self._ask(lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        memory, _ = self._ask(lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        power_mw, _ = self._ask(lambda: nvml.nvmlDeviceGetPowerUsage(handle))

        key = uuid or f"#{index}"
        window = self._windows.get(key) or UtilisationWindow(
            window_s=self._window_s,
            max_samples=self._max_samples,
        )
        kept[key] = window
        is_percentage = raw is not None and 0 <= raw <= 100
        return GpuReading(
            index=index,
            uuid=uuid,
            name=name,
            utilisation=window.add(raw if is_percentage else None, at_s=now.mono_s),
            raw_value=None if raw is None else str(raw),
            quality=self._quality(failure, is_percentage=is_percentage),
            error=None if failure is None else str(failure),
            memory_used_mb=None if memory is None else memory.used // _BYTES_PER_MIB,
            memory_total_mb=None if memory is None else memory.total // _BYTES_PER_MIB,
            memory_free_mb=None if memory is None else memory.free // _BYTES_PER_MIB,
            temperature_c=self._temperature_c(handle),
            power_w=None if power_mw is None else round(power_mw / 1000, 1),
            sampled=now,
        )

    def _temperature_c(self, handle: object) -> int | None:
        nvml, sensor = self._nvml, self._nvml.NVML_TEMPERATURE_GPU
        # The first is what newer drivers keep; older ones only know the second.
        new, failure = self._ask(lambda: nvml.nvmlDeviceGetTemperatureV(handle, sensor))
        if failure is None:
            return new
        old, _ = self._ask(lambda: nvml.nvmlDeviceGetTemperature(handle, sensor))
        return old

    def _quality(self, failure: Exception | None, *, is_percentage: bool) -> str:
        if failure is None:
            return "ok" if is_percentage else "invalid"
        is_unsupported = isinstance(failure, self._nvml.NVMLError_NotSupported)
        return "unsupported" if is_unsupported else "command_error"

    def _ask(
        self,
        question: Callable[[], _Answer],
    ) -> tuple[_Answer, None] | tuple[None, Exception]:
        try:
            return question(), None
        except self._nvml.NVMLError as error:
            return None, error


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
