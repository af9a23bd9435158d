import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.pool_member import Member
from cacheroute.core.routing.load import (
    QUEUE_SIGNALS,
    load_cost,
    running_cost,
    signals,
    signals_of,
)
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.pool_builders import an_instance

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

PUBLISHED = Weights().as_mapping()

ALL_KNOWN = {
    "inflight": 3.0,
    "active_prepare": 1.0,
    "active_ready": 2.0,
    "prepare_queue_depth": 4.0,
    "ready_queue_depth": 8.0,
    "pending_prefill_count": 1.0,
    "active_decode_count": 2.0,
    "predicted_total_backlog_ms": 500.0,
    "qps_1m": 7.0,
}


def a_member(inflight: int = 0, qps_1m: float | None = None, weight: float = 1.0) -> Member:
    member = Member(an_instance(weight=weight))
    member.inflight = inflight
    member.qps_1m = qps_1m
    return member


def test_the_published_formula_adds_up_all_nine_terms() -> None:
    cost = load_cost(ALL_KNOWN, PUBLISHED)
    assert cost is not None
    # 3 + 1 + 2 + 4/4 + 8/4 + 1 + 2/2 + 500/1000 + 0 * 7
    assert cost.total == pytest.approx(11.5)
    assert cost.terms == ALL_KNOWN


def test_a_request_counts_twice_while_it_is_active_and_inflight() -> None:
    cost = load_cost({"inflight": 1.0, "active_ready": 1.0}, PUBLISHED)
    assert cost is not None
    assert cost.total == 2.0


def test_only_terms_with_a_weight_are_among_the_weighted() -> None:
    cost = load_cost({"inflight": 2.0, "qps_1m": 5.0}, PUBLISHED)
    assert cost is not None
    assert cost.weighted == {"inflight": 2.0}
    assert cost.terms == {"inflight": 2.0, "qps_1m": 5.0}


def test_an_instance_without_signals_has_no_cost() -> None:
    assert load_cost({}, PUBLISHED) is None
    assert load_cost({"temperature": 80.0}, PUBLISHED) is None


def test_a_measured_zero_is_a_cost_of_zero() -> None:
    cost = load_cost({"inflight": 0.0}, PUBLISHED)
    assert cost is not None
    assert cost.total == 0.0
    assert cost.terms == {"inflight": 0.0}


def test_a_share_twice_as_large_bears_twice_the_load() -> None:
    one = load_cost({"inflight": 3.0}, PUBLISHED)
    two = load_cost({"inflight": 6.0}, PUBLISHED, share=2.0)
    assert one is not None
    assert two is not None
    assert one.total == two.total


def test_what_nobody_reported_is_no_signal() -> None:
    assert signals(inflight=2) == {"inflight": 2.0}
    assert signals_of(a_member(inflight=2), 0.0) == {"inflight": 2.0}
    assert signals_of(a_member(qps_1m=0.0), 0.0) == {"inflight": 0.0, "qps_1m": 0.0}


def test_the_queues_of_an_instance_are_all_known_or_all_unknown() -> None:
    member = a_member(inflight=1, qps_1m=2.0)
    member.queues = Board(QueueRules())
    assert list(signals_of(member, 0.0)) == ["inflight", *QUEUE_SIGNALS, "qps_1m"]
    assert list(signals_of(member, 0.0)) == list(PUBLISHED)


def a_busy_board(preparing: int, waiting: int, ready: int, services_ms: list[float]) -> Board:
    """One that has something at every stage; its requests were sent at 100 s."""
    board = Board(QueueRules(prepare_concurrency=max(1, preparing), max_queue=64), slots=2)
    for n in range(2 + ready):
        assert board.enter(Ticket())
        if n < len(services_ms):
            board.timeline.reserve(100.0, services_ms[n], 500.0, observable=n % 2 == 0)
    for _ in range(preparing + waiting):
        assert board.enqueue(Ticket())
    return board


@patient
@given(
    inflight=st.integers(0, 10_000),
    qps_1m=st.none() | st.floats(0, 1e6),
    weight=st.floats(0.01, 100),
    inflight_weight=st.floats(0, 100),
    qps_weight=st.floats(0, 100),
)
def test_the_short_way_and_the_long_way_cost_the_same(
    inflight: int,
    qps_1m: float | None,
    weight: float,
    inflight_weight: float,
    qps_weight: float,
) -> None:
    member = a_member(inflight, qps_1m, weight)
    weights = Weights(inflight=inflight_weight, qps_1m=qps_weight)
    told = load_cost(signals_of(member, 0.0), weights.as_mapping(), weight)
    assert told is not None
    assert running_cost(member, weights, 0.0) == pytest.approx(told.total)


@patient
@given(
    board=st.builds(
        a_busy_board,
        st.integers(0, 3),
        st.integers(0, 3),
        st.integers(0, 3),
        st.lists(st.floats(0, 3000), max_size=4),
    ),
    weights=st.builds(
        Weights, **{name: st.sampled_from([0.0, 0.25, 1.0, 7.0]) for name in PUBLISHED}
    ),
    passing_s=st.floats(0, 10),
)
def test_the_short_way_and_the_long_way_weigh_queues_alike(
    board: Board, weights: Weights, passing_s: float
) -> None:
    member = a_member(inflight=5, qps_1m=3.0, weight=2.0)
    member.queues = board
    now_s = 100.0 + passing_s
    short = running_cost(member, weights, now_s)
    told = load_cost(signals_of(member, now_s), weights.as_mapping(), 2.0)
    assert told is not None
    assert short == pytest.approx(told.total)


def test_an_instance_that_takes_no_new_work_costs_something_all_the_same() -> None:
    """Its requests still end, and each end asks what it costs now."""
    member = a_member(inflight=1, weight=0.0)
    assert running_cost(member, Weights(), 0.0) >= 0
