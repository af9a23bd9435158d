"""Requests as they are predicted to arrive at an Instance, and what one more costs the others.

Prefills run in the order of release, so a request delays those that are released after it. It
also delays those that are still to come. For a prefill of S seconds that begins in W seconds:

- Of those expected within W + S, one that comes during W waits S longer, and one that comes
  during S waits for what is left of it, S / 2 on average: S x (W + S / 2) / (W + S) each.
- Where text may not pass, it holds up the release of all behind it until it is ready. Those
  expected within these H seconds wait H / 2 longer on average.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from cacheroute.core.dispatch.influx import Influx


class Arrival(NamedTuple):
    """One request on its way."""

    release_s: float
    """Seconds until it is released."""
    number: int
    """Its place in the line, for those that are released together."""
    service_s: float
    """How long its prefill takes."""


class Approach:
    """What is on its way to one Instance, as seen at one moment."""

    __slots__ = (
        "_arrivals", "_blocked_s", "_free_in_s", "_influx", "_line_influx", "_now_mono_s",
        "_place_in_s", "_text_passes",
    )  # fmt: skip

    def __init__(
        self,
        *,
        now_mono_s: float,
        arrivals: Sequence[Arrival],
        influx: Influx,
        line_influx: Influx,
        free_in_s: float,
        place_in_s: float,
        blocked_s: float,
        text_passes: bool,
    ) -> None:
        self._now_mono_s = now_mono_s
        self._arrivals = arrivals
        self._influx = influx
        self._line_influx = line_influx
        self._text_passes = text_passes
        self._free_in_s = free_in_s
        self._place_in_s = place_in_s
        self._blocked_s = blocked_s

    @property
    def place_in_ms(self) -> float:
        """Return how long one more waits at turnstile 1 before it is prepared."""
        return self._place_in_s * 1000

    def wait_ms(self, own_ready_ms: float, *, passes: bool) -> float:
        """Return for how long others keep a request from its prefill, in ms from now.

        It is prepared in `own_ready_ms`. It waits until those it may not pass are ready, and
        for the prefills of those that are released no later than it.
        """
        own_s = self._release_s(own_ready_ms, passes)
        cursor_s = self._free_in_s
        for arrival in self._arrivals:
            if arrival.release_s > own_s:
                break
            cursor_s = max(cursor_s, arrival.release_s) + arrival.service_s
        return (cursor_s if passes else max(cursor_s, self._blocked_s)) * 1000

    def delay_ms(self, own_ready_ms: float, own_service_ms: float, *, passes: bool) -> float:
        """Return how much longer all that are on their way would wait, in sum, for one more."""
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
        """Return how much longer those that are still to come would wait for it, in sum."""
        wait_s = self.wait_ms(own_ready_ms, passes=passes) / 1000
        service_s = own_service_ms / 1000
        now_s = self._now_mono_s
        busy_s = wait_s + service_s
        delay_s = 0.0
        if busy_s > 0:
            each_s = service_s * (wait_s + service_s / 2) / busy_s
            delay_s = self._influx.expected(now_s, busy_s) * each_s
        if not self._text_passes:
            held_s = max(0.0, own_ready_ms / 1000 - self._blocked_s)
            delay_s += self._line_influx.expected(now_s, held_s) * held_s / 2
        return delay_s * 1000

    def _release_s(self, own_ready_ms: float, passes: bool) -> float:
        own_s = own_ready_ms / 1000
        return own_s if passes else max(own_s, self._blocked_s)
