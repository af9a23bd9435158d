"""Why a request went where it went: recorded as it happens, put into words when read."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cacheroute.core.request import RouteRequest
    from cacheroute.core.routing.selection import Chosen

_KEPT = 1024


class Decision(NamedTuple):
    """One selection.

    Recorded as a bare tuple of these fields, since one is recorded for every request and
    almost none is ever read.
    """

    number: int
    at_wall_s: float
    request_id: str
    attempt: int
    """1 for the first Instance that was tried, 2 for the next."""
    strategy: str
    model: str | None
    endpoint: str
    instance_id: str | None
    """None when nobody could be chosen; then `reason` says why."""
    cost: float | None
    runner_up: str | None
    runner_up_cost: float | None
    considered: int
    skipped: Mapping[str, list[str]] | None
    reason: str | None
    injection: Mapping[str, object] | None = None
    """How its knowledge is brought in and why; None for a request without any."""

    def as_wire(self) -> dict[str, object]:
        """Write it for `/debug/decisions`."""
        return {
            "seq": self.number,
            "at": self.at_wall_s,
            "request_id": self.request_id,
            "attempt": self.attempt,
            "strategy": self.strategy,
            "model": self.model,
            "endpoint": self.endpoint,
            "instance_id": self.instance_id,
            "cost": self.cost,
            "runner_up": self.runner_up,
            "runner_up_cost": self.runner_up_cost,
            "considered": self.considered,
            "skipped": {reason: len(ids) for reason, ids in (self.skipped or {}).items()},
            "reason": self.reason or self.in_words(),
            "injection": self.injection,
        }

    def in_words(self) -> str:
        """Say in a sentence why this Instance was chosen."""
        field = f"{self.considered} candidate" + ("s" if self.considered != 1 else "")
        if self.cost is None:
            return f"{self.instance_id} was due next among {field}."
        if self.runner_up is None or self.runner_up_cost is None:
            return f"{self.instance_id} had the least cost, {self.cost:g}, among {field}."
        if self.runner_up_cost == self.cost:
            return (
                f"{self.instance_id} shared the least cost, {self.cost:g}, among {field} "
                "and was due next."
            )
        return (
            f"{self.instance_id} had the least cost, {self.cost:g}, among {field}; "
            f"{self.runner_up} came next with {self.runner_up_cost:g}."
        )


class Decisions:
    """The last decisions, newest last."""

    def __init__(self) -> None:
        self._ring: deque[tuple[Any, ...]] = deque(maxlen=_KEPT)
        self._injections: OrderedDict[int, Mapping[str, object]] = OrderedDict()
        self.total = 0
        """Decisions made since start."""

    def add(
        self,
        request: RouteRequest,
        attempt: int,
        strategy: str,
        chosen: Chosen | None,
        reason: str | None,
    ) -> None:
        """Record a selection; the oldest goes when there is no room."""
        self.total += 1
        if chosen is None:
            outcome: tuple[Any, ...] = (None, None, None, None, 0, None)
        else:
            runner_up = chosen.runner_up
            outcome = (
                chosen.member.instance.instance_id,
                chosen.cost,
                None if runner_up is None else runner_up.instance.instance_id,
                chosen.runner_up_cost,
                chosen.considered,
                chosen.skipped,
            )
        self._ring.append(
            (
                self.total,
                request.arrived_wall_s,
                request.request_id,
                attempt,
                strategy,
                request.model,
                request.endpoint,
                *outcome,
                reason,
            )
        )

    def explain_injection(self, injection: Mapping[str, object]) -> None:
        """Add to the newest decision how the knowledge of its request is brought in."""
        self._injections[self.total] = injection
        if len(self._injections) > _KEPT:
            self._injections.popitem(last=False)

    def last(self, count: int) -> Iterator[Decision]:
        """Iterate over the newest decisions, newest first."""
        for index, record in enumerate(reversed(self._ring)):
            if index >= count:
                return
            yield Decision._make((*record, self._injections.get(record[0])))
