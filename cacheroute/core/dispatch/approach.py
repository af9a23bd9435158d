"""Those on their way as they are predicted to arrive, and what one more among them means.

Prefills go in the order of release. One more that is released before others is read before
them, and they wait for it. So do those who will come: for a prefill of S seconds that begins
after W, each of those expected within W + S waits longer by S, or by what is left of it, which
makes S x (W + S / 2) / (W + S) on average. In order, those expected within the H seconds for
which it keeps all behind it from their release wait longer by H / 2.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from cacheroute.core.dispatch.influx import Influx


class Arrival(NamedTuple):
    """One of those on their way."""

    release_s: float
    """Seconds until it is released."""
    number: int
    """Its place in the line, for those that are released together."""
    service_s: float
    """How long its prefill takes."""


class Approach:
    """What is on its way to one Instance, as seen at one moment."""

    __slots__ = (
        "_arrivals", "_blocked_s", "_free_in_s", "_influx", "_now_mono_s", "_place_in_s",
        "_text_passes",
    )  # fmt: skip

    def __init__(
        self,
        *,
        now_mono_s: float,
        arrivals: Sequence[Arrival],
        influx: Influx,
        free_in_s: float,
        place_in_s: float,
        blocked_s: float,
        text_passes: bool,
    ) -> None:
        self._now_mono_s = now_mono_s
        self._arrivals = arrivals
        self._influx = influx
        self._text_passes = text_passes
        self._free_in_s = free_in_s
        self._place_in_s = place_in_s
        self._blocked_s = blocked_s

    @property
    def place_in_ms(self) -> float:
        """Return how long one more waits at turnstile 1 before it is prepared."""
        return self._place_in_s * 1000

    def wait_ms(self, own_ready_ms: float, *, passes: bool) -> float:
        """Return until when others keep one from its prefill that is prepared in `own_ready_ms`.

        Those it may not pass hold it until they are ready, and those that are released no later
        than it are read first.
        """
        own_s = self._release_s(own_ready_ms, passes)
        cursor_s = self._free_in_s
        for arrival in self._arrivals:
            if arrival.release_s > own_s:
                break
            cursor_s = max(cursor_s, arrival.release_s) + arrival.service_s
        return (cursor_s if passes else max(cursor_s, self._blocked_s)) * 1000

    def delay_ms(self, own_ready_ms: float, own_service_ms: float, *, passes: bool) -> float:
        """Return how much longer all that are here would wait, in sum, for one more like that."""
        own_s = self._release_s(own_ready_ms, passes)
        without_s = self._free_in_s
        arrivals = iter(self._arrivals)
        for arrival in arrivals:
            if arrival.release_s > own_s:
                break
            without_s = max(without_s, arrival.release_s) + arrival.service_s
        else:
            return 0.0  # nobody is behind us
        with_s = max(without_s, own_s) + own_service_ms / 1000
        delay_s = 0.0
        for behind in chain((arrival,), arrivals):
            release_s = behind.release_s
            delay_s += max(with_s, release_s) - max(without_s, release_s)
            without_s = max(without_s, release_s) + behind.service_s
            with_s = max(with_s, release_s) + behind.service_s
        return delay_s * 1000

    def later_delay_ms(self, own_ready_ms: float, own_service_ms: float, *, passes: bool) -> float:
        """Return how much longer those who are expected meanwhile would wait, in sum."""
        wait_s = self.wait_ms(own_ready_ms, passes=passes) / 1000
        service_s = own_service_ms / 1000
        expected, now_s = self._influx.expected, self._now_mono_s
        busy_s = wait_s + service_s
        delay_s = 0.0
        if busy_s > 0:
            each_s = service_s * (wait_s + service_s / 2) / busy_s
            delay_s = expected(now_s, busy_s) * each_s
        if not self._text_passes:
            held_s = max(0.0, own_ready_ms / 1000 - self._blocked_s)
            delay_s += expected(now_s, held_s) * held_s / 2
        return delay_s * 1000

    def _release_s(self, own_ready_ms: float, passes: bool) -> float:
        own_s = own_ready_ms / 1000
        return own_s if passes else max(own_s, self._blocked_s)
