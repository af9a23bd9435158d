"""Prefills that are on their way to an Instance: chosen for it, and still being prepared.

The timeline knows what has been released to an Instance. Between the choice and the release
lies a transfer that can take seconds; a prediction that does not see it gives the same idle
GPU to everybody who asks in the meantime.

| Quantity | Formula                                                                       |
|----------|-------------------------------------------------------------------------------|
| start    | when turnstile 1 has a place: that of the first to be ready who has one       |
| ready    | KV: the end of its transfer; text: its lookup's. No sooner than start + work  |
| release  | when all before it are ready, too; text under `text_bypass` when it is ready  |

No request is predicted to have become ready in the past: one that is late is expected to need
as long again as it is late by now.
"""

import heapq

from cacheroute.core.dispatch.approach import Approach, Arrival
from cacheroute.core.dispatch.influx import Influx
from cacheroute.core.dispatch.links import LinkReservation
from cacheroute.core.dispatch.release import POLICIES
from cacheroute.core.dispatch.rules import QueueRules


class Coming:
    """One request's place among those on their way, to be given back once."""

    __slots__ = (
        "_began_s", "_due_s", "_is_prepared", "_transfer", "_work_s", "number", "passes",
        "service_s",
    )  # fmt: skip

    def __init__(
        self,
        *,
        number: int,
        service_s: float,
        due_s: float,
        work_s: float,
        passes: bool,
        transfer: LinkReservation | None,
    ) -> None:
        self.number = number
        """Its place in the line."""
        self.service_s = service_s
        """How long its prefill is predicted to take."""
        self.passes = passes
        """Whether it is released as soon as it is ready, whoever is before it."""
        self._due_s = due_s
        self._work_s = work_s
        self._transfer = transfer
        self._began_s: float | None = None
        self._is_prepared = False

    @property
    def is_prepared(self) -> bool:
        """Whether nothing is left to bring in."""
        return self._is_prepared

    @property
    def is_inside(self) -> bool:
        """Whether it is past turnstile 1."""
        return self._began_s is not None

    def begins(self, now_mono_s: float) -> None:
        """It is past turnstile 1."""
        self._began_s = now_mono_s

    def prepared(self, service_ms: float, *, passes: bool) -> None:
        """All is brought in, by which it is known better what it needs."""
        self._is_prepared = True
        self.service_s = service_ms / 1000
        self.passes = passes

    def ready_in_s(self, now_mono_s: float, start_in_s: float) -> float:
        """Return when it will be prepared, if it passes turnstile 1 then or has done so."""
        if self._is_prepared:
            return 0.0
        transfer = self._transfer
        if transfer is not None:
            due_in_s = transfer.line.ends_in_s(transfer, now_mono_s)
        else:
            due_in_s = self._due_s - now_mono_s
        began_s = self._began_s
        if began_s is None:
            return max(due_in_s, start_in_s + self._work_s)
        due_in_s = max(due_in_s, began_s + self._work_s - now_mono_s)
        return abs(due_in_s)


class Upcoming:
    """Requests on their way to one Instance, in the order in which they were chosen for it."""

    __slots__ = ("_comings", "_numbers", "_places", "_text_passes", "influx", "line_influx")

    def __init__(self, rules: QueueRules) -> None:
        self._places = rules.prepare_concurrency
        self._text_passes = POLICIES[rules.release_policy](rules).text_passes
        self.influx = Influx()
        """How often requests come, with knowledge or without: each needs its prefill."""
        self.line_influx = Influx()
        """How often those with knowledge come, which alone may have to wait for others here."""
        self._comings: dict[int, Coming] = {}
        self._numbers = 0

    def __len__(self) -> int:
        return len(self._comings)

    def add(
        self,
        *,
        due_mono_s: float,
        work_ms: float,
        service_ms: float,
        is_text: bool,
        transfer: LinkReservation | None = None,
    ) -> Coming:
        """Note a request whose preparing takes `work_ms` and is not over before `due_mono_s`.

        With a transfer, its end is what counts, wherever it moves.
        """
        self._numbers += 1
        coming = self._comings[self._numbers] = Coming(
            number=self._numbers,
            service_s=service_ms / 1000,
            due_s=due_mono_s,
            work_s=work_ms / 1000,
            passes=self.passes(is_text=is_text),
            transfer=transfer,
        )
        return coming

    def passes(self, *, is_text: bool) -> bool:
        """Return whether one of this kind passes those that are not ready."""
        return is_text and self._text_passes

    def remove(self, coming: Coming) -> None:
        """It has been released, or has gone; a second call does nothing."""
        self._comings.pop(coming.number, None)

    def approach(self, now_mono_s: float, free_in_ms: float) -> Approach:
        """Predict when each will be released, and what that leaves for one more behind them.

        `free_in_ms` is when the Instance will be done with what it has.
        """
        places_s: list[float] = []
        blocked_s = 0.0
        arrivals = []
        for coming in self._comings.values():
            start_s = 0.0
            if not coming.is_inside and len(places_s) >= self._places:
                start_s = heapq.heappop(places_s)
            ready_s = coming.ready_in_s(now_mono_s, start_s)
            if not coming.is_prepared:
                heapq.heappush(places_s, ready_s)
            blocked_s = max(blocked_s, ready_s)
            release_s = ready_s if coming.passes else blocked_s
            arrivals.append(Arrival(release_s, coming.number, coming.service_s))
        arrivals.sort()
        return Approach(
            now_mono_s=now_mono_s,
            arrivals=arrivals,
            influx=self.influx,
            line_influx=self.line_influx,
            free_in_s=free_in_ms / 1000,
            place_in_s=places_s[0] if len(places_s) >= self._places else 0.0,
            blocked_s=blocked_s,
            text_passes=self._text_passes,
        )
