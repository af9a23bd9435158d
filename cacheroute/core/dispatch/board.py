"""The two turnstiles before one Instance, and who may move on whenever something changes.

Turnstile 1 bounds how many requests are prepared at once, turnstile 2 how many prepared
ones are on the Instance. Nobody polls: each change returns the tickets that move on by it,
and whoever made the change wakes them. A ticket that has gone leaves nothing behind.

Who needs no preparing comes straight to turnstile 2 and waits for a slot alone: it takes
its turn by arrival among those that are prepared, and never waits for one that is not.
"""

import math
from collections import OrderedDict

from cacheroute.core.dispatch.release import POLICIES
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.dispatch.timeline import Timeline
from cacheroute.core.pressure import Course, Pressure

_LONGEST_RETRY_S = 60.0

_Line = OrderedDict[Ticket, None]
"""Tickets in order of arrival; one in the middle leaves as cheaply as the first."""


class Board:
    """The queues of one Instance."""

    __slots__ = (
        "_arrivals", "_enqueued", "_entered", "_line", "_policy", "_prepared", "_released",
        "_waiting", "active_prepare", "active_ready", "rules", "timeline",
    )  # fmt: skip

    def __init__(self, rules: QueueRules, slots: int | None = None) -> None:
        self.rules = rules
        self.timeline = Timeline(rules.ready_concurrency if slots is None else slots)
        self.active_prepare = 0
        """Tickets that are being prepared."""
        self.active_ready = 0
        """Tickets that are released and have not gone."""
        self._policy = POLICIES[rules.release_policy](rules)
        self._waiting: _Line = OrderedDict()
        """Before turnstile 1."""
        self._line: _Line = OrderedDict()
        """All that were enqueued and are not released, whether prepared or not."""
        self._prepared = 0
        """How many of the line are prepared."""
        self._entered: _Line = OrderedDict()
        """Before turnstile 2, with nothing to prepare."""
        self._arrivals = self._enqueued = self._released = 0

    # The ways in

    def enqueue(self, ticket: Ticket) -> bool:
        """Take in a request that must be prepared; False when too many wait already.

        It is `preparing` at once if there is a place, otherwise `waiting`.
        """
        _must_be_new(ticket)
        starts = not self._waiting and self._may_prepare()
        if not starts and len(self._waiting) >= self.rules.max_queue:
            return False
        self._enqueued += 1
        ticket.prepare_seq = self._enqueued
        self._arrive(ticket)
        self._line[ticket] = None
        if starts:
            self._prepare(ticket)
        else:
            ticket.stage = "waiting"
            self._waiting[ticket] = None
        return True

    def enter(self, ticket: Ticket) -> bool:
        """Take in a request that needs no preparing; False when too many wait already.

        It is `released` at once if there is a slot, otherwise `ready`.
        """
        _must_be_new(ticket)
        if self.active_ready < self.slots:
            self._arrive(ticket)
            self._release(ticket)
        elif self.is_full:
            return False
        else:
            self._arrive(ticket)
            ticket.stage = "ready"
            self._entered[ticket] = None
        return True

    # What happens to those inside

    def prepared(self, ticket: Ticket) -> list[Ticket]:
        """A ticket is prepared; returns all that move on by it, perhaps the ticket itself.

        Does nothing for one that has gone in the meantime.
        """
        if ticket.stage != "preparing":
            return []
        self.active_prepare -= 1
        ticket.stage = "ready"
        self._prepared += 1
        self._policy.prepared(ticket)
        return self._flush()

    def gone(self, ticket: Ticket) -> list[Ticket]:
        """A ticket has left or ended, at whatever stage; returns all that move on by it.

        A second call does nothing.
        """
        stage, ticket.stage = ticket.stage, "gone"
        if stage == "released":
            self.active_ready -= 1
        elif stage == "ready":
            if ticket in self._entered:
                del self._entered[ticket]
            else:
                self._leave_line(ticket)
        elif stage == "preparing":
            self.active_prepare -= 1
            del self._line[ticket]
        elif stage == "waiting":
            del self._waiting[ticket]
            del self._line[ticket]
        else:
            return []
        return self._flush()

    def resize(self, slots: int) -> list[Ticket]:
        """Give the Instance another number of slots; returns all that move on by it.

        With fewer slots than are taken nobody is stopped, and nobody is released until
        enough have ended.
        """
        self.timeline.slots.count = slots
        return self._flush()

    # What there is to know

    @property
    def slots(self) -> int:
        """Most tickets that are released at once."""
        return self.timeline.slots.count

    @property
    def prepare_queue_depth(self) -> int:
        """Tickets that wait to be prepared."""
        return len(self._waiting)

    @property
    def ready_queue_depth(self) -> int:
        """Tickets that wait to be released and have nothing left to prepare."""
        return self._prepared + len(self._entered)

    @property
    def pending_prefill_count(self) -> int:
        """Requests whose first token is still to come, as of the last look at the time."""
        return self.timeline.pending_count

    @property
    def active_decode_count(self) -> int:
        """Requests that are past their first token, as of the last look at the time."""
        return self.timeline.decode_count

    @property
    def is_full(self) -> bool:
        """Whether nobody else may wait for a slot."""
        return self.ready_queue_depth >= self.rules.max_queue

    @property
    def is_ticking(self) -> bool:
        """Whether the figures change by the mere passing of time."""
        return self.timeline.is_ticking

    def course(self, now_mono_s: float) -> Course | None:
        """Tell how the figures go on from now; None when time alone does not change them."""
        return self.timeline.course(now_mono_s)

    def waiting(self) -> list[Ticket]:
        """Return all that wait at either turnstile, for an owner who has to send them away."""
        return [t for line in (self._line, self._entered) for t in line if t.stage != "preparing"]

    def wait_ms(self, now_mono_s: float) -> float:
        """Return how long one more request would wait for its prefill."""
        return self.timeline.wait_ms(now_mono_s)

    def retry_after_s(self, now_mono_s: float) -> float:
        """Return when asking again may help: after the backlog, in whole seconds from 1 to 60."""
        return min(_LONGEST_RETRY_S, max(1.0, math.ceil(self.wait_ms(now_mono_s) / 1000)))

    def pressure(self, now_mono_s: float) -> Pressure:
        """Return all figures as they are now."""
        timeline = self.timeline
        free_ms = timeline.prefill_free_in_ms(now_mono_s)  # first, for it moves the counts along
        slot_ms = timeline.next_slot_ready_in_ms(now_mono_s)
        return Pressure(
            prepare_queue_depth=len(self._waiting),
            ready_queue_depth=self._prepared + len(self._entered),
            active_prepare=self.active_prepare,
            active_ready=self.active_ready,
            pending_prefill_count=timeline.pending_count,
            active_decode_count=timeline.decode_count,
            next_slot_ready_in_ms=slot_ms,
            prefill_free_in_ms=free_ms,
            predicted_total_backlog_ms=max(free_ms, slot_ms),
        )

    # The inside

    def _arrive(self, ticket: Ticket) -> None:
        self._arrivals += 1
        ticket.arrival = self._arrivals

    def _may_prepare(self) -> bool:
        # What is prepared and not released must not pile up behind a full Instance.
        return self.active_prepare < self.rules.prepare_concurrency and not self.is_full

    def _prepare(self, ticket: Ticket) -> None:
        ticket.stage = "preparing"
        self.active_prepare += 1

    def _release(self, ticket: Ticket) -> None:
        self._released += 1
        ticket.release_seq = self._released
        ticket.stage = "released"
        self.active_ready += 1

    def _leave_line(self, ticket: Ticket) -> None:
        del self._line[ticket]
        self._prepared -= 1
        self._policy.left(ticket)

    def _flush(self) -> list[Ticket]:
        moved: list[Ticket] = []
        self._policy.begin()
        while self.active_ready < self.slots:
            ticket = self._next()
            if ticket is None:
                break
            if ticket.prepare_seq is None:
                del self._entered[ticket]
            else:
                self._leave_line(ticket)
            self._release(ticket)
            moved.append(ticket)
        while self._waiting and self._may_prepare():
            ticket, _ = self._waiting.popitem(last=False)
            self._prepare(ticket)
            moved.append(ticket)
        return moved

    def _next(self) -> Ticket | None:
        """Return who is released next, the first that came going first."""
        entered = next(iter(self._entered), None)
        head = next(iter(self._line), None)
        if head is None:
            return entered
        if entered is not None and (head.stage != "ready" or entered.arrival < head.arrival):
            return entered
        return self._policy.next(head)


def _must_be_new(ticket: Ticket) -> None:
    if ticket.stage != "new":
        raise ValueError(f"a ticket is used once, and this one is {ticket.stage}")
