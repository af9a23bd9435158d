"""In what order prepared requests are let through to an Instance.

One class per policy and one row each in the table below. A policy is asked again and again
while there are free slots; `begin` tells it that a new round of asking starts.
"""

import bisect
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import ClassVar, Protocol

from cacheroute.core.dispatch.rules import QueueRules, ReleasePolicy
from cacheroute.core.dispatch.ticket import Ticket


class Policy(Protocol):
    """An order of release."""

    text_passes: ClassVar[bool]
    """Whether text that is prepared goes at once, and not behind all that came before it."""

    def begin(self) -> None:
        """Something has changed, and some may be released."""
        ...

    def next(self, head: Ticket) -> Ticket | None:
        """Return who goes now, `head` being the first in line; None for nobody."""
        ...

    def prepared(self, ticket: Ticket) -> None:
        """One in the line is prepared."""
        ...

    def left(self, ticket: Ticket) -> None:
        """One that was prepared has been released or has gone."""
        ...


class Ordered:
    """Strictly in order of arrival: who is not prepared yet keeps those behind waiting."""

    text_passes: ClassVar[bool] = False

    def __init__(self, rules: QueueRules) -> None:
        del rules  # every policy is made alike

    def begin(self) -> None:
        """Every round is like the others."""

    def next(self, head: Ticket) -> Ticket | None:
        """Return the head if it is prepared."""
        return head if head.stage == "ready" else None

    def prepared(self, ticket: Ticket) -> None:
        """The line itself is all there is to know."""

    def left(self, ticket: Ticket) -> None:
        """Nothing is kept."""


class TextBypass:
    """In order, but some prepared text requests may pass a head that is not prepared."""

    # Each text that is prepared makes a round of its own, so the bound of a round holds none up.
    text_passes: ClassVar[bool] = True

    def __init__(self, rules: QueueRules) -> None:
        self._most = rules.text_bypass_max_per_flush
        self._left_in_round = 0
        self._texts: list[Ticket] = []
        """Prepared text requests in order of arrival; a few hundred at most."""

    def begin(self) -> None:
        """A new round, and as many may pass again."""
        self._left_in_round = self._most

    def next(self, head: Ticket) -> Ticket | None:
        """Return the head if it is prepared, else the first text request that may pass it."""
        if head.stage == "ready":
            return head
        if not self._texts or not self._left_in_round:
            return None
        self._left_in_round -= 1
        ticket = self._texts[0]
        ticket.bypassed = True
        ticket.blocked_seq = head.prepare_seq
        return ticket

    def prepared(self, ticket: Ticket) -> None:
        """Only text may pass."""
        if ticket.is_text:
            bisect.insort(self._texts, ticket, key=_ARRIVAL)

    def left(self, ticket: Ticket) -> None:
        """It stands here no longer."""
        index = bisect.bisect_left(self._texts, ticket.arrival, key=_ARRIVAL)
        if index < len(self._texts) and self._texts[index] is ticket:
            del self._texts[index]


_ARRIVAL = attrgetter("arrival")

POLICIES: Mapping[ReleasePolicy, Callable[[QueueRules], Policy]] = {
    "ordered": Ordered,
    "text_bypass": TextBypass,
}
"""Every policy by its published name."""
