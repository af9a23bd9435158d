"""What a change would do, before it is done."""

from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.orders import Orders
from cacheroute.runtime.outlook import Outlook, under
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.operating_parts import a_desk, effect, fleet, objection
from tests.cacheroute.runtime.runtime_parts import member_of, placed


def test_a_condition_is_how_an_instance_is_used_now() -> None:
    desk = a_desk(*fleet(1, weight=2.0))
    desk.proxy.pool.order("i-1", Orders(draining=True, reason="r", weight=0.5))
    condition = Outlook(desk.proxy).condition("i-1")
    assert (condition.state, condition.draining, condition.reason) == ("alive", True, "r")
    assert (condition.weight, condition.own_weight) == (0.5, 2.0)
    desk.clock.wait(45)
    assert Outlook(desk.proxy).condition("i-1").state == "stale"


def test_of_one_that_is_not_here_only_the_orders_are_known() -> None:
    desk = a_desk()
    assert Outlook(desk.proxy).condition("i-9").weight is None
    desk.proxy.pool.order("i-9", Orders(weight=0.5))
    condition = Outlook(desk.proxy).condition("i-9")
    assert (condition.state, condition.weight, condition.own_weight) == ("gone", 0.5, None)


def test_under_other_orders_it_is_used_differently() -> None:
    desk = a_desk(*fleet(1, weight=2.0))
    now = Outlook(desk.proxy).condition("i-1")
    assert under(now, Orders()) == now
    assert under(now, Orders(weight=3.0)).weight == 3.0
    assert under(under(now, Orders(weight=3.0)), Orders()).weight == 2.0
    assert under(now, Orders(draining=True)).draining


def test_those_who_serve_are_alive_undrained_and_have_a_weight() -> None:
    desk = a_desk(*fleet(4))
    desk.proxy.pool.order("i-1", Orders(draining=True))
    desk.proxy.pool.order("i-2", Orders(weight=0.0))
    outlook = Outlook(desk.proxy)
    assert {m.instance.instance_id for m in outlook.serving({})} == {"i-3", "i-4"}
    after = {"i-1": under(outlook.condition("i-1"), Orders())}
    assert len(outlook.serving(after)) == 3
    desk.clock.wait(60)
    assert outlook.serving({}) == []


def test_what_waits_is_told_apart_from_what_runs() -> None:
    desk = a_desk(*fleet(2))
    for _ in range(6):
        placed(desk.proxy, a_request())
    board = desk.proxy.turnstiles.gate(member_of(desk.proxy, "i-1")).board
    assert board.enqueue(Ticket())
    assert board.enter(Ticket())
    [change] = effect(desk.drain("i-1", dry_run=True)).changes
    assert (change.inflight, change.waiting) == (3, 1)


def test_an_unknown_id_comes_with_the_nearest_one() -> None:
    outlook = Outlook(a_desk(an_instance("inst-9001")).proxy)
    assert outlook.unknown([]) is None
    near = objection(outlook.unknown(["inst-9901"]))
    assert (near.nearest, near.detail) == (
        "inst-9001",
        "There is no Instance inst-9901; was inst-9001 meant?",
    )
    far = objection(outlook.unknown(["zzz"]))
    assert (far.nearest, far.detail) == (None, "There is no Instance zzz.")
