"""The operator's changes: what they do, what they refuse, and what is written down."""

import logging

import pytest

from cacheroute.core.changes import StrategyChange
from cacheroute.core.orders import Orders
from cacheroute.runtime import operating
from cacheroute.stores.base import StoreError
from tests.cacheroute.core.pool_builders import an_instance, joined
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.operating_parts import ME, a_desk, effect, fleet, objection
from tests.cacheroute.runtime.runtime_parts import member_of, placed


class FullDisk:
    """A place for orders that takes nothing and gives nothing."""

    def save_orders(self, instance_id: str, orders: Orders) -> bool:
        raise StoreError(f"No space left for {instance_id}.")

    def load_orders(self) -> dict[str, Orders]:
        raise StoreError("The disk cannot be read.")


# Draining


def test_a_drain_tells_how_it_was_how_it_is_and_what_it_does() -> None:
    desk = a_desk(*fleet(3))
    placed(desk.proxy, a_request())
    placed(desk.proxy, a_request())
    told = effect(desk.drain("i-1", reason="new driver"))
    [change] = told.changes
    assert (change.before.draining, change.after.draining) == (False, True)
    assert (change.after.reason, change.inflight, change.waiting) == ("new driver", 1, 0)
    assert (told.left, told.left_resting, told.left_without) == (("i-2", "i-3"), 0, ())
    assert desk.routable == {"i-2", "i-3"}
    assert member_of(desk.proxy, "i-1").inflight == 1


def test_a_drained_instance_gets_nothing_new_and_an_undrained_one_does() -> None:
    desk = a_desk(*fleet(2))
    desk.drain("i-1")
    chosen = {placed(desk.proxy, a_request()).member.instance.instance_id for _ in range(4)}
    assert chosen == {"i-2"}
    desk.undrain("i-1")
    chosen = {placed(desk.proxy, a_request()).member.instance.instance_id for _ in range(4)}
    assert chosen == {"i-1", "i-2"}


def test_asking_twice_does_no_more_than_asking_once() -> None:
    desk = a_desk(*fleet(2))
    desk.drain("i-1", reason="first")
    version, since = desk.proxy.pool.version, desk.proxy.pool.orders.of("i-1").since_wall_s
    desk.clock.wait(60)
    [change] = effect(desk.drain("i-1")).changes
    assert not change.changed
    assert desk.proxy.pool.version == version
    assert desk.proxy.pool.orders.of("i-1") == Orders(
        draining=True, reason="first", since_wall_s=since
    )
    assert desk.audit.told == [("drain", "i-1")]
    desk.undrain("i-1")
    assert not effect(desk.undrain("i-1")).changes[0].changed
    assert len(desk.audit.lines) == 2


def test_another_reason_is_a_change_and_begins_no_new_drain() -> None:
    desk = a_desk(*fleet(2))
    desk.drain("i-1", reason="first")
    desk.clock.wait(60)
    assert effect(desk.drain("i-1", reason="second")).changes[0].changed
    assert desk.proxy.pool.orders.of("i-1").since_wall_s == desk.clock.wall_s - 60


def test_a_dry_run_tells_the_same_and_changes_nothing() -> None:
    desk = a_desk(*fleet(2))
    told = effect(desk.drain("i-1", dry_run=True))
    assert told.dry_run
    assert told.changes[0].changed
    assert told.left == ("i-2",)
    assert desk.routable == {"i-1", "i-2"}
    assert desk.audit.lines == []
    assert desk.store.load_orders() == {}


def test_one_unknown_id_and_none_is_changed() -> None:
    desk = a_desk(*fleet(3))
    told = objection(desk.drain("i-1", "i_33", "nonsense"))
    assert (told.code, told.nearest) == ("unknown_instance", "i-3")
    assert told.detail == "There is no Instance i_33, nor nonsense; was i-3 meant?"
    assert desk.routable == {"i-1", "i-2", "i-3"}


def test_an_order_of_one_that_has_gone_can_be_taken_back() -> None:
    desk = a_desk(*fleet(2))
    desk.drain("i-1")
    desk.proxy.pool.unregister("i-1")
    [change] = effect(desk.undrain("i-1")).changes
    assert (change.before.state, change.before.draining) == ("gone", True)
    joined(desk.proxy.pool, an_instance("i-1", port=9001), desk.clock.now())
    assert desk.routable == {"i-1", "i-2"}


# The last one


def test_the_last_one_is_drained_by_force_only() -> None:
    desk = a_desk(*fleet(2))
    desk.drain("i-1")
    told = objection(desk.drain("i-2"))
    assert (told.code, told.detail) == (
        "nobody_left",
        "Nobody takes new requests once i-2 is drained.",
    )
    assert desk.routable == {"i-2"}
    assert effect(desk.drain("i-2", force=True)).left == ()
    assert desk.routable == set()


def test_all_at_once_are_the_last_one_too() -> None:
    desk = a_desk(*fleet(3))
    assert objection(desk.drain("i-1", "i-2", "i-3")).code == "nobody_left"
    assert objection(desk.weigh(0.0, "i-1", "i-2", "i-3")).code == "nobody_left"
    assert objection(desk.unregister("i-1", "i-2", "i-3")).code == "nobody_left"
    assert desk.routable == {"i-1", "i-2", "i-3"}


def test_who_is_silent_counts_for_nobody() -> None:
    desk = a_desk(*fleet(2))
    desk.clock.wait(60)
    joined(desk.proxy.pool, an_instance("i-1", port=9001), desk.clock.now())
    assert objection(desk.drain("i-1")).code == "nobody_left"
    assert effect(desk.drain("i-2")).left == ("i-1",)
    desk.clock.wait(60)
    assert effect(desk.drain("i-1")).left == ()


def test_the_last_one_that_serves_a_model_is_drained_by_force_only() -> None:
    desk = a_desk(
        an_instance("i-1", port=9001, meta={"model": "big"}),
        an_instance("i-2", port=9002, meta={"model": "small"}),
    )
    told = objection(desk.drain("i-1"))
    assert told.detail == "Nobody takes requests for big once i-1 is drained."
    assert effect(desk.drain("i-1", force=True)).left_without == ("big",)


def test_those_who_rest_after_failures_are_counted_apart() -> None:
    desk = a_desk(*fleet(3))
    member = member_of(desk.proxy, "i-2")
    for _ in range(10):
        desk.proxy.failed(member, "broken")
    told = effect(desk.drain("i-1"))
    assert (told.left, told.left_resting) == (("i-2", "i-3"), 1)


# Weights


def test_a_weight_counts_until_it_is_reset_whatever_the_instance_says() -> None:
    desk = a_desk(*fleet(2))
    [change] = effect(desk.weigh(3.0, "i-1")).changes
    assert (change.before.weight, change.after.weight, change.after.own_weight) == (1.0, 3.0, 1.0)
    chosen = [placed(desk.proxy, a_request()).member.instance.instance_id for _ in range(8)]
    assert (chosen.count("i-1"), chosen.count("i-2")) == (6, 2)
    joined(desk.proxy.pool, an_instance("i-1", port=9001, weight=5.0), desk.clock.now())
    assert member_of(desk.proxy, "i-1").weight == 3.0
    [change] = effect(desk.weigh(None, "i-1")).changes
    assert change.after.weight == 5.0
    assert member_of(desk.proxy, "i-1").weight == 5.0


def test_a_weight_that_is_the_instances_own_already_is_fixed_all_the_same() -> None:
    desk = a_desk(*fleet(2))
    assert effect(desk.weigh(1.0, "i-1")).changes[0].changed
    joined(desk.proxy.pool, an_instance("i-1", port=9001, weight=5.0), desk.clock.now())
    assert member_of(desk.proxy, "i-1").weight == 1.0
    assert not effect(desk.weigh(1.0, "i-1")).changes[0].changed


def test_weight_0_takes_nothing_new() -> None:
    desk = a_desk(*fleet(2), strategy="least_load")
    desk.weigh(0.0, "i-1")
    assert desk.routable == {"i-2"}
    assert placed(desk.proxy, a_request()).member.instance.instance_id == "i-2"


# Unregistering


def test_a_registered_instance_goes_and_a_static_one_stays() -> None:
    desk = a_desk(*fleet(2), an_instance("s-1", port=9009, origin="static"))
    [change] = effect(desk.unregister("i-1")).changes
    assert (change.before.state, change.after.state) == ("alive", "gone")
    assert set(desk.proxy.pool.members) == {"i-2", "s-1"}
    told = objection(desk.unregister("i-2", "s-1"))
    assert (told.code, told.detail.split()[0]) == ("static_instance", "s-1")
    assert set(desk.proxy.pool.members) == {"i-2", "s-1"}
    assert objection(desk.unregister("i-1")).code == "unknown_instance"
    assert desk.audit.told == [("unregister", "i-1")]


# The strategy


def test_another_strategy_routes_from_the_next_request_on() -> None:
    desk = a_desk(*fleet(2))
    first, second = placed(desk.proxy, a_request()), placed(desk.proxy, a_request())
    desk.proxy.release(second)
    told = desk.operator.use_strategy("ll", ME, dry_run=False)
    assert told == StrategyChange(
        before="round_robin", after="least_load", dry_run=False, inflight=1, left=2
    )
    assert (desk.operator.strategy, desk.operator.configured) == ("least_load", "round_robin")
    other = placed(desk.proxy, a_request())
    assert other.member is second.member  # the first one still counts
    desk.proxy.release(first)
    desk.proxy.release(other)
    assert [member.inflight for member in desk.proxy.pool.members.values()] == [0, 0]
    assert desk.audit.told == [("strategy", None)]


def test_the_same_strategy_again_is_no_change() -> None:
    desk = a_desk(*fleet(1))
    before = desk.proxy.strategy
    told = desk.operator.use_strategy("round-robin", ME, dry_run=False)
    assert isinstance(told, StrategyChange)
    assert not told.changed
    assert desk.proxy.strategy is before
    assert desk.audit.lines == []


def test_a_strategy_may_be_asked_about_first() -> None:
    desk = a_desk(*fleet(1))
    told = desk.operator.use_strategy("least_load", ME, dry_run=True)
    assert isinstance(told, StrategyChange)
    assert told.changed
    assert desk.operator.strategy == "round_robin"


def test_an_unknown_strategy_is_refused_with_those_that_are_known() -> None:
    told = objection(a_desk(*fleet(1)).operator.use_strategy("fast", ME, dry_run=False))
    assert told.code == "unknown_strategy"
    assert "round_robin" in told.detail
    assert "least_load" in told.detail


# What is kept


def test_orders_are_kept_and_taken_back_before_any_instance_comes() -> None:
    desk = a_desk(*fleet(2))
    desk.drain("i-1", reason="r")
    desk.weigh(2.0, "i-1", "i-2")
    later = a_desk(store=desk.store)
    later.operator.restore()
    for instance in fleet(2):
        joined(later.proxy.pool, instance, later.clock.now())
    assert later.routable == {"i-2"}
    assert member_of(later.proxy, "i-2").weight == 2.0
    later.undrain("i-1")
    later.weigh(None, "i-1", "i-2")
    assert later.store.load_orders() == {}


def test_a_store_that_fails_is_told_of_and_the_order_stands(
    caplog: pytest.LogCaptureFixture,
) -> None:
    desk = a_desk(*fleet(2), store=FullDisk())
    desk.operator.restore()
    told = effect(desk.drain("i-1"))
    assert not told.kept
    assert desk.routable == {"i-2"}
    assert [record.getMessage().partition(" ")[0] for record in caplog.records] == [
        "orders.unreadable",
        "orders.not_kept",
    ]


def test_orders_cannot_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operating, "MAX_ORDERS", 2)
    desk = a_desk(*fleet(4))
    desk.weigh(2.0, "i-1", "i-2")
    assert objection(desk.drain("i-3")).code == "too_many_orders"
    assert effect(desk.drain("i-1")).changes[0].changed
    desk.weigh(None, "i-2")
    assert effect(desk.drain("i-3")).changes[0].changed


def test_each_change_is_written_down_with_who_and_how_it_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    desk = a_desk(*fleet(3))
    desk.drain("i-1", "i-2", reason="r")
    line = desk.audit.lines[0]
    assert desk.audit.told == [("drain", "i-1"), ("drain", "i-2")]
    assert (line["peer"], line["user"], line["token"]) == ("127.0.0.1", "kim@desk", "0a1b2c3d")
    assert (line["at"], line["inflight"]) == (desk.clock.wall_s, 0)
    before, after = line["before"], line["after"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert (before["draining"], after["draining"], after["reason"]) == (False, True, "r")
    assert [record.getMessage().split()[0] for record in caplog.records] == ["admin.drain"] * 2
