"""Who gets the next request: in turn, and by least load."""

from collections import Counter
from dataclasses import fields

import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.instance import Instance
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.routing.strategies import LeastLoad, RoundRobin, Strategy
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.core.routing.routing_builders import (
    Desk,
    a_least_load_desk,
    a_request,
    instances,
)

EACH = pytest.mark.parametrize("strategy", [RoundRobin, LeastLoad])


# In turn


def test_round_robin_gives_each_the_same_in_the_same_order() -> None:
    desk = Desk(*instances(3))
    assert desk.turns(9) == ["i-1", "i-2", "i-3"] * 3


@pytest.mark.parametrize("weights", [(1.0, 3.0), (2.0, 1.0, 1.0), (0.5, 0.25)])
def test_round_robin_follows_the_weights(weights: tuple[float, ...]) -> None:
    desk = Desk(*(an_instance(f"i-{n}", port=n, weight=w) for n, w in enumerate(weights, 1)))
    total = sum(weights)
    served = Counter(desk.turns(400))
    for n, weight in enumerate(weights, 1):
        assert served[f"i-{n}"] == pytest.approx(400 * weight / total, abs=2)


def test_the_turn_survives_a_change_of_the_pool() -> None:
    desk = Desk(*instances(4))
    served = []
    for _ in range(40):
        served += desk.turns(1)
        desk.changed()
    assert Counter(served) == {f"i-{n}": 10 for n in range(1, 5)}


def test_shares_survive_changes_of_the_pool() -> None:
    """A pool in which somebody rests or comes back every moment still follows its weights."""
    desk = Desk(an_instance("light", port=1), an_instance("heavy", port=2, weight=3.0))
    served: Counter[str] = Counter()
    for _ in range(40):
        served.update(desk.turns(1))
        desk.changed()
    assert served["light"] == pytest.approx(10, abs=4), served


def test_shares_hold_where_somebody_has_a_cap() -> None:
    desk = Desk(
        an_instance("light", port=1), an_instance("heavy", port=2, weight=3.0, max_concurrent=50)
    )
    served = Counter(desk.turns(40))
    assert served["light"] == pytest.approx(10, abs=2), served


@pytest.mark.parametrize("weights", [(1.0, 2.0, 5.0), (0.3, 1.1, 0.7), (10.0, 1.0, 1.0)])
def test_shares_are_never_more_than_a_request_or_two_off(weights: tuple[float, ...]) -> None:
    desk = Desk(*(an_instance(str(n), port=1 + n, weight=w) for n, w in enumerate(weights)))
    counts = dict.fromkeys("012", 0)
    for served, instance_id in enumerate(desk.turns(500), 1):
        counts[instance_id] += 1
        for index, weight in enumerate(weights):
            due = served * weight / sum(weights)
            assert abs(counts[str(index)] - due) < 2, (served, counts)


def test_the_share_of_one_that_is_full_is_spread_evenly_over_the_others() -> None:
    desk = Desk(*instances(4), an_instance("full", port=1, max_concurrent=1))
    desk.member("full").inflight = 1
    assert Counter(desk.turns(40)) == {f"i-{n}": 10 for n in range(1, 5)}


def test_one_that_was_full_does_not_make_up_for_what_it_could_not_take() -> None:
    desk = Desk(
        an_instance("light", port=1), an_instance("heavy", port=2, weight=3.0, max_concurrent=1)
    )
    desk.turns(4)
    full = desk.member("heavy")
    held = desk.pool.lease(full)
    desk.strategy.on_change(full)
    assert desk.turns(40) == ["light"] * 40
    desk.give_back(held)
    served = Counter(desk.turns(40))
    assert served["light"] == pytest.approx(10, abs=1), served


@EACH
def test_who_is_full_gets_requests_again_with_the_first_place_that_is_given_back(
    strategy: type[Strategy],
) -> None:
    desk = Desk(*instances(3, max_concurrent=2), strategy=strategy(Weights()))  # type: ignore[call-arg]
    leases = [desk.take() for _ in range(6)]
    assert desk.nobody().code == "all_overloaded"
    for lease in leases[2:4]:
        desk.give_back(lease)
        assert desk.chosen().member is lease.member
        assert desk.chosen().considered == 1
        desk.take()


@EACH
def test_models_that_are_asked_for_by_turns_are_each_spread(strategy: type[Strategy]) -> None:
    """One cursor for two lists would send every request for a model to the same Instance."""
    desk = Desk(
        *(an_instance(f"a-{n}", port=10 + n, meta={"model": "a"}) for n in range(2)),
        *(an_instance(f"b-{n}", port=20 + n, meta={"model": "b"}) for n in range(2)),
        strategy=strategy(Weights()),  # type: ignore[call-arg]
    )
    served: Counter[str] = Counter()
    for _ in range(20):
        served.update(desk.turns(1, a_request("a")))
        served.update(desk.turns(1, a_request("b")))
    assert served == {"a-0": 10, "a-1": 10, "b-0": 10, "b-1": 10}


@EACH
def test_second_tries_do_not_upset_the_turn(strategy: type[Strategy]) -> None:
    """While i-1 fails, its share is spread over the others, not given to one of them."""
    desk = Desk(*instances(3), strategy=strategy(Weights()))  # type: ignore[call-arg]
    served: Counter[str] = Counter()
    failing = desk.member("i-1")
    for _ in range(60):
        member = desk.chosen().member
        if member is failing:
            member = desk.chosen(excluded=[failing]).member
        served[member.instance.instance_id] += 1
    assert served["i-2"] == pytest.approx(30, abs=10), served


# By least load


def test_least_load_spreads_a_burst() -> None:
    desk = a_least_load_desk(*instances(4))
    leases = [desk.take() for _ in range(12)]
    counts = Counter(lease.member.instance.instance_id for lease in leases)
    assert set(counts.values()) == {3}


def test_least_load_spares_the_busy_until_the_others_are_as_busy() -> None:
    desk = a_least_load_desk(*instances(3))
    busy = desk.member("i-2")
    held = [Lease(busy) for _ in range(3)]
    desk.strategy.on_change(busy)
    ids = [desk.take().member.instance.instance_id for _ in range(6)]
    assert "i-2" not in ids
    assert len(held) == 3


def test_ties_go_round() -> None:
    desk = a_least_load_desk(*instances(3))
    assert desk.turns(9) == ["i-1", "i-2", "i-3"] * 3


def test_ties_go_round_among_those_who_tie() -> None:
    desk = a_least_load_desk(*instances(4))
    busy = desk.member("i-2")
    busy.inflight = 5
    desk.strategy.on_change(busy)
    assert Counter(desk.turns(30)) == {"i-1": 10, "i-3": 10, "i-4": 10}


def test_ties_go_on_where_they_were_when_the_pool_changes() -> None:
    desk = a_least_load_desk(*instances(3))
    served = []
    for _ in range(9):
        served += desk.turns(1)
        desk.changed()
    assert served == ["i-1", "i-2", "i-3"] * 3


def test_weights_of_zero_make_it_round_robin() -> None:
    desk = a_least_load_desk(*instances(3), inflight=0.0)
    ids = [desk.take().member.instance.instance_id for _ in range(9)]
    assert ids == ["i-1", "i-2", "i-3"] * 3


def test_an_instance_with_twice_the_weight_bears_twice_the_load() -> None:
    desk = a_least_load_desk(an_instance("one", port=1), an_instance("two", port=2, weight=2.0))
    counts = Counter(desk.take().member.instance.instance_id for _ in range(30))
    assert counts == {"one": 10, "two": 20}


def test_reported_requests_a_second_count_where_they_have_a_weight() -> None:
    desk = a_least_load_desk(*instances(2), qps_1m=1.0)
    desk.pool.heartbeat("i-1", at(0.0), qps_1m=50.0)
    desk.strategy.on_change(desk.member("i-1"))
    assert desk.turns(4) == ["i-2"] * 4
    desk.pool.heartbeat("i-1", at(0.0), qps_1m=0.0)
    desk.strategy.on_change(desk.member("i-1"))
    assert set(desk.turns(4)) == {"i-1", "i-2"}


def test_by_default_what_they_report_of_themselves_counts_nothing() -> None:
    desk = a_least_load_desk(*instances(2))
    desk.pool.heartbeat("i-1", at(0.0), qps_1m=1e6)
    desk.strategy.on_change(desk.member("i-1"))
    assert Counter(desk.turns(4)) == {"i-1": 2, "i-2": 2}


def a_queue(member: Member) -> Board:
    board = member.queues = Board(QueueRules())
    return board


class CountingInstance(Instance):
    """An Instance that counts how often anybody's cap is read."""

    times_read = 0

    @classmethod
    def like(cls, one: Instance) -> "CountingInstance":
        """Make one of another's description."""
        return cls(**{field.name: getattr(one, field.name) for field in fields(one)})

    def __getattribute__(self, name: str) -> object:
        if name == "max_concurrent":
            CountingInstance.times_read += 1
        return super().__getattribute__(name)


class CountingBoard(Board):
    """A board that counts how often it is weighed."""

    __slots__ = ("times_weighed",)

    def __init__(self) -> None:
        super().__init__(QueueRules())
        self.times_weighed = 0

    def wait_ms(self, now_mono_s: float) -> float:
        self.times_weighed += 1
        return super().wait_ms(now_mono_s)


def a_counting_queue(member: Member) -> CountingBoard:
    board = member.queues = CountingBoard()
    return board


def test_a_backlog_counts_and_wears_off_by_the_passing_of_time_alone() -> None:
    desk = a_least_load_desk(*instances(2), pending_prefill_count=0.0)
    board = a_queue(desk.member("i-1"))
    board.timeline.reserve(0.0, 2000.0, 0.0)
    held = desk.pool.lease(desk.member("i-2"))
    desk.strategy.on_change(desk.member("i-1"))
    desk.strategy.on_change(desk.member("i-2"))
    assert desk.chosen().member is desk.member("i-2")
    desk.now_s = 1.5
    chosen = desk.chosen()
    assert chosen.member is desk.member("i-1")
    assert chosen.cost == pytest.approx(0.5)
    assert held.held


def test_a_stuck_head_keeps_new_requests_away() -> None:
    desk = a_least_load_desk(*instances(2))
    board = a_queue(desk.member("i-1"))
    board.timeline.reserve(0.0, 10.0, 0.0)
    leases = [desk.pool.lease(desk.member("i-2")) for _ in range(5)]
    assert desk.chosen().member is desk.member("i-1")
    desk.now_s = 20.0
    assert desk.chosen().member is desk.member("i-2")
    assert len(leases) == 5


def test_nobody_is_weighed_again_while_nothing_moves() -> None:
    desk = a_least_load_desk(*instances(6))
    boards = [a_counting_queue(member) for member in desk.pool.members.values()]
    running = boards[0].timeline.reserve(0.0, 500.0, 100.0)
    desk.chosen()
    boards[0].timeline.first_token(running, 0.3)
    desk.strategy.on_change(desk.member("i-1"))
    desk.chosen()
    weighed = [board.times_weighed for board in boards]
    desk.now_s = 5.0
    desk.chosen()
    assert [board.times_weighed for board in boards] == weighed == [2, 1, 1, 1, 1, 1]


def test_who_costs_too_much_to_be_chosen_is_not_weighed_again() -> None:
    desk = a_least_load_desk(*instances(80))
    boards = [a_counting_queue(member) for member in desk.pool.members.values()]
    for n, board in enumerate(boards):
        board.timeline.reserve(0.0, 10_000.0 + 100.0 * n, 0.0)
    desk.chosen()
    for board in boards:
        board.times_weighed = 0
    for step in range(1, 51):
        desk.now_s = step * 0.001
        assert desk.chosen().member is desk.member("i-1")
    assert [board.times_weighed for board in boards] == [50] + [0] * 79


def test_who_is_full_is_not_weighed_until_there_is_room() -> None:
    desk = a_least_load_desk(*instances(80, max_concurrent=1))
    boards = [a_counting_queue(member) for member in desk.pool.members.values()]
    leases = [desk.take() for _ in range(79)]
    for board in boards:
        board.times_weighed = 0
    for step in range(1, 51):
        desk.now_s = step * 0.001
        for lease in leases:
            desk.strategy.on_change(lease.member)
        assert desk.chosen().considered == 1
    assert sum(board.times_weighed for board in boards) == 0
    desk.give_back(leases[7])
    assert desk.chosen().considered == 2
    assert [n for n, board in enumerate(boards) if board.times_weighed] == [7]


@EACH
@pytest.mark.parametrize("count", [100, 1000])
def test_nobodys_cap_is_read_but_of_those_to_whom_something_happens(
    strategy: type[Strategy], count: int
) -> None:
    fleet = [CountingInstance.like(one) for one in instances(count, max_concurrent=2)]
    desk = Desk(*fleet, strategy=strategy(Weights()))  # type: ignore[call-arg]
    leases = [desk.take() for _ in range(2 * count - 1)]
    failed = [lease.member for lease in leases[:2]]
    CountingInstance.times_read = 0
    for lease in leases[:50]:
        desk.give_back(lease)
        desk.chosen(excluded=failed)
        leases.append(desk.take())
    assert CountingInstance.times_read <= 50 * 4


def test_one_that_left_while_its_cost_was_moving_is_forgotten() -> None:
    desk = a_least_load_desk(*instances(2))
    a_queue(desk.member("i-1")).timeline.reserve(0.0, 1e6, 100.0)
    desk.strategy.on_change(desk.member("i-1"))
    desk.pool.unregister("i-1")
    desk.turns(1)
    strategy = desk.strategy
    assert isinstance(strategy, LeastLoad)
    assert not any(strategy._changed)


def test_the_choice_tells_its_cost_and_who_came_next() -> None:
    desk = a_least_load_desk(*instances(3))
    for instance_id, inflight in (("i-1", 4), ("i-2", 1), ("i-3", 2)):
        desk.member(instance_id).inflight = inflight
    chosen = desk.chosen()
    assert (chosen.member.instance.instance_id, chosen.cost) == ("i-2", 1.0)
    assert chosen.runner_up is desk.member("i-3")
    assert chosen.runner_up_cost == 2.0
    assert chosen.considered == 3


def test_the_runner_up_of_a_tie_is_another_one() -> None:
    desk = a_least_load_desk(*instances(2))
    for _ in range(4):
        chosen = desk.chosen()
        assert chosen.runner_up is not None
        assert chosen.runner_up is not chosen.member
        assert chosen.runner_up_cost == chosen.cost == 0.0


def test_who_is_alone_has_no_runner_up() -> None:
    chosen = a_least_load_desk(*instances(1)).chosen()
    assert (chosen.runner_up, chosen.runner_up_cost) == (None, None)


def test_in_a_large_pool_the_least_loaded_is_found_and_nobody_looks_for_the_second() -> None:
    desk = a_least_load_desk(*instances(200))
    for n, member in enumerate(desk.pool.members.values()):
        member.inflight = 1 + (n * 7919) % 199
    desk.member("i-142").inflight = 0
    chosen = desk.chosen()
    assert chosen.member is desk.member("i-142")
    assert chosen.runner_up is None
    assert chosen.considered == 200


def test_requests_end_well_on_an_instance_that_takes_no_more() -> None:
    """An operator sets the weight to 0 while requests run: they end, and none is added."""
    desk = a_least_load_desk(*instances(2))
    leases = [desk.take() for _ in range(4)]
    desk.join(an_instance("i-1", port=9001, weight=0.0))
    desk.strategy.on_change(desk.member("i-1"))
    for lease in leases:
        desk.give_back(lease)
    assert desk.member("i-1").inflight == 0
    assert desk.turns(3) == ["i-2"] * 3
