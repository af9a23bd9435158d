"""The boards of all Instances, and how those who wait before them are woken.

A board is made with the first request that has to pass it, and goes with its Instance; those
who wait then are woken to look for another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.links import Links
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.dispatch.upcoming import Upcoming
from cacheroute.dataplane.turns import Signal

if TYPE_CHECKING:
    from cacheroute.core.dispatch.rules import QueueRules
    from cacheroute.core.pool_member import Member
    from cacheroute.core.request import RouteRequest


class Gate:
    """What is kept before one Instance."""

    __slots__ = ("board", "is_closed", "times_silent", "upcoming")

    def __init__(self, board: Board) -> None:
        self.board = board
        """Its two turnstiles and its timeline."""
        self.upcoming = Upcoming(board.rules)
        """What is on its way to it."""
        self.is_closed = False
        """Whether the Instance has left."""
        self.times_silent = 0
        """How often it has fallen silent: who waited then goes elsewhere, if that is possible."""


class Turnstiles:
    """Every gate, by Instance."""

    def __init__(
        self,
        rules: QueueRules,
        on_change: Callable[[Member], None],
        has_another: Callable[[RouteRequest, Collection[Member]], bool] = lambda *_: False,
    ) -> None:
        self.rules = rules
        """Those of every gate."""
        self.has_another = has_another
        """Whether a request would be taken elsewhere than at some Instances."""
        self.on_change = on_change
        """Told whenever the load of an Instance has changed."""
        self.is_closing = False
        """Whether nobody is released any more."""
        self._gates: dict[Member, Gate] = {}
        self.links = Links()
        """Transfers of KV that are under way."""

    def gate(self, member: Member) -> Gate:
        """Return the gate before an Instance, as wide as its own cap says."""
        gate = self._gates.get(member)
        slots = member.instance.max_concurrent or self.rules.ready_concurrency
        if gate is None:
            gate = self._gates[member] = Gate(Board(self.rules, slots))
            member.queues = gate.board
        elif gate.board.slots != slots:
            wake(gate.board.resize(slots))
            self.on_change(member)
        return gate

    def forget(self, member: Member) -> None:
        """An Instance has left: whoever waits before it is woken, to find its gate closed."""
        gate = self._gates.pop(member, None)
        if gate is None:
            return
        gate.is_closed = True
        self.links.drop_instance(member.instance.instance_id)
        wake(gate.board.waiting())

    def silent(self, member: Member) -> None:
        """An Instance has fallen silent: whoever waits before it goes elsewhere, if possible."""
        gate = self._gates.get(member)
        if gate is not None:
            gate.times_silent += 1
            wake(gate.board.waiting())

    def look_round(self, member: Member) -> None:
        """An Instance is drained: whoever waits before it goes elsewhere, if that is possible."""
        gate = self._gates.get(member)
        if gate is not None:
            wake(gate.board.waiting())

    def close(self) -> None:
        """This Proxy stops: send everybody away who still waits."""
        self.is_closing = True
        for gate in self._gates.values():
            wake(gate.board.waiting())


def wake(tickets: Iterable[Ticket]) -> None:
    """Let tickets go on, each in a turn of its own: a chain of them must not become a stack."""
    loop = asyncio.get_running_loop()
    for ticket in tickets:
        if isinstance(ticket.waker, Signal):
            loop.call_soon(ticket.waker.notify)
