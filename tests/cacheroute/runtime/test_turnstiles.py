"""Gates come with the first request, are as wide as their Instance says, and go with it."""

import asyncio
from dataclasses import replace
from typing import Any

from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.pool_member import Member
from cacheroute.dataplane.turns import Signal
from cacheroute.runtime.turnstiles import Turnstiles, wake
from tests.cacheroute.core.pool_builders import an_instance

NARROW = QueueRules(prepare_concurrency=1, ready_concurrency=2)


class Woken(Signal):
    """Counts how often it was notified."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def notify(self) -> None:
        self.times += 1
        super().notify()


def turnstiles(rules: QueueRules = NARROW) -> Turnstiles:
    return Turnstiles(rules, lambda _: None)


def a_member(**given: Any) -> Member:
    return Member(an_instance("i-1", **given))


def a_ticket() -> tuple[Ticket, Woken]:
    woken = Woken()
    return Ticket(woken), woken


async def test_a_gate_is_made_once_and_shown_by_its_instance() -> None:
    each, member = turnstiles(), a_member()
    assert member.queues is None
    gate = each.gate(member)
    assert each.gate(member) is gate
    assert member.queues is gate.board
    assert (gate.board.slots, gate.is_closed, len(gate.upcoming)) == (2, False, 0)


async def test_an_instance_with_a_cap_has_a_gate_of_that_width() -> None:
    each = turnstiles()
    assert each.gate(a_member(max_concurrent=5)).board.slots == 5


async def test_a_gate_that_becomes_wider_lets_those_before_it_go() -> None:
    each, member = turnstiles(), a_member(max_concurrent=1)
    board = each.gate(member).board
    tickets = [a_ticket() for _ in range(3)]
    assert all(board.enter(ticket) for ticket, _ in tickets)
    member.instance = replace(member.instance, max_concurrent=3)
    each.gate(member)
    await asyncio.sleep(0)
    assert [ticket.stage for ticket, _ in tickets] == ["released"] * 3
    assert [woken.times for _, woken in tickets] == [0, 1, 1]


async def test_a_gate_of_another_width_is_a_change_of_load() -> None:
    told: list[Member] = []
    each, member = Turnstiles(NARROW, told.append), a_member(max_concurrent=1)
    each.gate(member)
    each.gate(member)
    assert told == []
    member.instance = replace(member.instance, max_concurrent=3)
    each.gate(member)
    assert told == [member]


async def test_whoever_waits_before_an_instance_that_leaves_is_woken() -> None:
    each, member = turnstiles(), a_member()
    gate = each.gate(member)
    tickets = [a_ticket() for _ in range(3)]
    assert all(gate.board.enqueue(ticket) for ticket, _ in tickets)
    each.links.reserve(("i-1", "10.0.0.7:9101"), 0.0, 500.0)
    each.forget(member)
    assert gate.is_closed
    assert len(each.links) == 0
    assert [woken.times for _, woken in tickets] == [0, 0, 0], "not within the call"
    await asyncio.sleep(0)
    # The first one is being prepared, and comes by when that is done.
    assert [woken.times for _, woken in tickets] == [0, 1, 1]
    assert each.gate(member) is not gate


async def test_to_forget_one_that_nothing_was_queued_for_does_nothing() -> None:
    turnstiles().forget(a_member())


async def test_whoever_waits_before_one_that_falls_silent_is_woken() -> None:
    each, member = turnstiles(), a_member()
    each.silent(member)
    gate = each.gate(member)
    tickets = [a_ticket() for _ in range(2)]
    assert all(gate.board.enqueue(ticket) for ticket, _ in tickets)
    each.silent(member)
    await asyncio.sleep(0)
    assert (gate.times_silent, gate.is_closed) == (1, False)
    assert [woken.times for _, woken in tickets] == [0, 1]
    assert each.gate(member) is gate, "it may come back"


async def test_closing_wakes_all_who_wait_anywhere() -> None:
    each = turnstiles()
    woken = []
    for port in (1, 2):
        board = each.gate(Member(an_instance(f"i-{port}", port=port, max_concurrent=1))).board
        for _ in range(2):
            ticket, signal = a_ticket()
            board.enter(ticket)
            woken.append(signal)
    each.close()
    await asyncio.sleep(0)
    assert each.is_closing
    assert [signal.times for signal in woken] == [0, 1, 0, 1]


async def test_each_is_woken_in_a_turn_of_its_own() -> None:
    """Ten thousand that wake each other must not become a stack of calls."""
    tickets = [a_ticket() for _ in range(10_000)]
    wake(ticket for ticket, _ in tickets)
    wake([Ticket(None), Ticket("nobody")])
    assert not any(woken.times for _, woken in tickets)
    await asyncio.sleep(0)
    assert all(woken.times == 1 for _, woken in tickets)


async def test_whoever_waits_before_one_that_is_drained_looks_round() -> None:
    each, member = turnstiles(), a_member()
    each.look_round(member)
    gate = each.gate(member)
    tickets = [a_ticket() for _ in range(2)]
    assert all(gate.board.enqueue(ticket) for ticket, _ in tickets)
    each.look_round(member)
    await asyncio.sleep(0)
    assert [woken.times for _, woken in tickets] == [0, 1]
    assert each.gate(member) is gate


async def test_who_waits_before_a_drained_instance_is_woken_and_may_stay() -> None:
    each, member = turnstiles(), a_member(max_concurrent=1)
    each.look_round(member)  # nothing waits before one that has no gate
    board = each.gate(member).board
    (running, quiet), (waiting, woken) = a_ticket(), a_ticket()
    assert board.enter(running)
    assert board.enter(waiting)
    each.look_round(member)
    await asyncio.sleep(0)
    assert (quiet.times, woken.times) == (0, 1)
    assert waiting.stage == "ready"
