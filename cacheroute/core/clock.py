"""Time as a value that is handed in.

Durations, ages and time-to-live are judged on the monotonic clock alone, so a wall
clock that jumps expires nobody. The wall clock exists for what people read.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment on both clocks, taken together."""

    mono_s: float
    """Monotonic seconds; the zero point means nothing."""
    wall_s: float
    """Seconds since the epoch."""

    @property
    def wall_ms(self) -> int:
        """Whole milliseconds since the epoch, as the wire wants them."""
        return int(self.wall_s * 1000)


class Clock(Protocol):
    """Whoever can tell the time."""

    def now(self) -> Instant:
        """Return this moment on both clocks."""
        ...
