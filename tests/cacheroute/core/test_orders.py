"""What the operator has ordered holds for an id, whatever its Instance does."""

from cacheroute.core.orders import NONE, Orders, StandingOrders
from cacheroute.core.pool_member import Member
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at, joined

DRAINED = Orders(draining=True, reason="new driver", since_wall_s=1.0)


def test_nothing_is_ordered_until_something_is() -> None:
    orders = StandingOrders()
    assert orders.of("i-1") is NONE
    assert (len(orders), list(orders), "i-1" in orders) == (0, [], False)
    assert NONE.is_empty


def test_an_empty_order_is_forgotten() -> None:
    orders = StandingOrders()
    orders.put("i-1", DRAINED)
    orders.put("i-2", Orders(weight=0.0))
    assert list(orders) == ["i-1", "i-2"]
    orders.put("i-1", NONE)
    orders.put("i-1", NONE)
    assert list(orders) == ["i-2"]


def test_a_member_does_as_it_is_told_and_says_if_that_is_news() -> None:
    orders, member = StandingOrders(), Member(an_instance(weight=2.0))
    assert not orders.apply(member)
    orders.put("i-1", DRAINED)
    assert orders.apply(member)
    assert not orders.apply(member)
    assert (member.draining, member.weight) == (True, 2.0)
    orders.put("i-1", Orders(weight=5.0))
    assert orders.apply(member)
    assert (member.draining, member.weight) == (False, 5.0)
    orders.put("i-1", NONE)
    assert orders.apply(member)
    assert (member.draining, member.weight) == (False, 2.0)


def test_an_order_moves_the_pools_version_when_it_changes_something_and_only_then() -> None:
    pool = a_pool(an_instance())
    before = pool.version
    pool.order("i-1", DRAINED)
    assert pool.version == before + 1
    pool.order("i-1", DRAINED)
    pool.order("not-here", DRAINED)
    assert pool.version == before + 1


def test_an_order_outlives_registrations_and_the_member_itself() -> None:
    pool = a_pool(an_instance())
    pool.order("i-1", Orders(draining=True, weight=3.0))
    member = joined(pool, an_instance(weight=7.0), at(1.0))
    assert (member.draining, member.weight, member.instance.weight) == (True, 3.0, 7.0)
    pool.unregister("i-1")
    member = joined(pool, an_instance(port=9009, weight=8.0), at(2.0))
    assert (member.draining, member.weight) == (True, 3.0)
    pool.order("i-1", NONE)
    assert (member.draining, member.weight) == (False, 8.0)


def test_one_may_be_ordered_before_it_comes() -> None:
    pool = a_pool()
    pool.order("i-1", DRAINED)
    assert joined(pool, an_instance()).draining


def test_a_registration_that_changes_nothing_stays_none_under_an_order() -> None:
    pool = a_pool(an_instance())
    pool.order("i-1", Orders(weight=3.0))
    outcome = pool.register(an_instance(), at(1.0))
    assert not getattr(outcome, "changed", True)


def test_a_snapshot_tells_what_is_ordered() -> None:
    pool = a_pool(an_instance())
    pool.order("i-1", Orders(draining=True, reason="r", weight=0.5))
    [view] = pool.snapshot(at(1.0)).views
    assert (view.draining, view.weight, view.instance.weight) == (True, 0.5, 1.0)
    assert view.orders.reason == "r"
