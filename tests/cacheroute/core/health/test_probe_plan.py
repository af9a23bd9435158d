"""Who is asked when, in time that is handed in."""

import heapq
import math
from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.core.health.probe_plan import ProbePlan

INTERVAL_S = 30.0
TIMEOUT_S = 5.0
PLACES = 8


def a_plan(*members: str, places: int = PLACES) -> ProbePlan[str]:
    plan: ProbePlan[str] = ProbePlan(INTERVAL_S, places)
    for member in members:
        plan.ask_soon(member)
    return plan


def ended(plan: ProbePlan[str], member: str, now_s: float = 0.0, *, well: bool = True) -> None:
    """Let the probe of one that is known end."""
    if well:
        plan.answered(member, now_s)
    else:
        plan.failed(member, now_s, was_known=True)


def test_one_that_is_new_is_asked_at_once_and_not_twice_at_a_time() -> None:
    plan = a_plan("a")
    assert plan.begin(0.0) == ["a"]
    assert plan.begin(0.0) == []
    assert plan.due_in_s(0.0) == math.inf


def test_one_that_answered_is_asked_again_after_the_interval() -> None:
    plan = a_plan("a")
    plan.begin(0.0)
    assert plan.answered("a", 2.0) == 0
    assert plan.due_in_s(10.0) == 22.0
    assert plan.begin(31.9) == []
    assert plan.begin(32.0) == ["a"]


def test_one_that_changes_while_it_is_asked_is_asked_once_more() -> None:
    plan = a_plan("a")
    plan.begin(0.0)
    plan.ask_soon("a")
    assert plan.begin(0.0) == []
    plan.answered("a", 1.0)
    assert plan.begin(1.0) == ["a"]


def test_it_says_whether_the_end_of_a_probe_lets_another_begin() -> None:
    plan = a_plan("a", "b", places=1)
    assert plan.begin(0.0) == ["a"]
    assert plan.keeps_waiting  # b has no place
    plan.answered("a", 1.0)
    assert plan.begin(1.0) == ["b"]
    assert not plan.keeps_waiting
    plan.ask_soon("b")
    plan.begin(2.0)
    assert plan.keeps_waiting  # b has changed, and is asked once more
    plan.answered("b", 3.0)
    assert plan.begin(3.0) == ["b"]
    assert not plan.keeps_waiting


def test_one_that_was_never_known_is_asked_less_and_less_often() -> None:
    plan, now_s, pauses = a_plan("a"), 0.0, []
    for count in range(1, 10):
        assert plan.begin(now_s) == ["a"]
        assert plan.failed("a", now_s, was_known=False) == count
        pauses.append(plan.due_in_s(now_s))
        now_s += pauses[-1]
    assert pauses == [1, 1, 1, 2, 4, 8, 16, 30, 30]


def test_how_often_one_had_failed_is_told_when_it_answers() -> None:
    plan = a_plan("a")
    for now_s in (0.0, 30.0):
        plan.begin(now_s)
        ended(plan, "a", now_s, well=False)
    plan.begin(60.0)
    assert plan.answered("a", 60.0) == 2


@pytest.mark.parametrize("well", [True, False])
def test_one_that_leaves_while_it_is_asked_gives_its_place_back_and_is_forgotten(
    well: bool,
) -> None:
    plan = a_plan("a", "b", places=1)
    assert plan.begin(0.0) == ["a"]
    plan.forget("a")
    assert "a" not in plan
    assert plan.begin(0.0) == []
    ended(plan, "a", well=well)
    assert plan.begin(100.0) == ["b"]
    assert not plan._asking.keys() - {"b"}


def test_who_was_being_asked_when_all_stopped_is_due() -> None:
    plan = a_plan("a")
    plan.begin(0.0)
    plan.given_up("a")
    assert plan.begin(0.0) == ["a"]


def test_whoever_is_longest_due_goes_first() -> None:
    members = ("a", "b", "c", "d")
    plan = a_plan(*members)
    plan.begin(0.0)
    for now_s, member in enumerate(("c", "a", "d", "b")):
        ended(plan, member, float(now_s))
    plan._places = 1
    order = []
    for now_s in range(100, 104):
        (one,) = plan.begin(float(now_s))
        order.append(one)
        ended(plan, one, float(now_s))
    assert order == ["c", "a", "d", "b"]


def test_those_that_hang_leave_the_places_of_others_alone() -> None:
    dead = [f"dead-{number}" for number in range(100)]
    plan = a_plan(*dead, places=100)
    for member in plan.begin(0.0):
        ended(plan, member, well=False)
    plan._places = PLACES
    assert len(plan.begin(INTERVAL_S)) == PLACES
    plan.ask_soon("live")
    assert plan.begin(INTERVAL_S) == ["live"]
    ended(plan, "live", INTERVAL_S)
    assert plan.begin(2 * INTERVAL_S) == ["live"]


# A pool over minutes, in time that is made up.


def simulated(live: int, dead: int, answer_s: float, until_s: float) -> dict[str, list[float]]:
    """Ask a pool for a while; returns when each was asked."""
    dead_ones = [f"dead-{number}" for number in range(dead)]
    plan = a_plan(*dead_ones, *[f"live-{number}" for number in range(live)])
    asked = defaultdict[str, list[float]](list)
    ends: list[tuple[float, str]] = []
    now_s = 0.0
    while now_s < until_s:
        for member in plan.begin(now_s):
            asked[member].append(now_s)
            took_s = TIMEOUT_S if member in dead_ones else answer_s
            heapq.heappush(ends, (now_s + took_s, member))
        next_end_s = ends[0][0] if ends else math.inf
        due_s = now_s + plan.due_in_s(now_s)
        now_s = min(next_end_s, due_s)
        while ends and ends[0][0] <= now_s:
            _, member = heapq.heappop(ends)
            ended(plan, member, now_s, well=member not in dead_ones)
    return asked


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(0, 120), st.floats(0.01, 1.0))
def test_however_many_are_dead_the_live_ones_are_asked_in_time(
    live: int, dead: int, answer_s: float
) -> None:
    asked = simulated(live, dead, answer_s, until_s=400.0)
    round_s = math.ceil(live / PLACES) * answer_s
    first_s = math.ceil((live + dead) / PLACES) * TIMEOUT_S
    for name, times in asked.items():
        gaps = [later - before for before, later in pairwise(times)]
        if name.startswith("live"):
            assert times[0] <= first_s
            assert max(gaps) <= INTERVAL_S + answer_s + round_s + 1e-6
    assert len(asked) == live + dead


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 120))
def test_of_those_that_are_dead_none_is_forgotten(dead: int) -> None:
    asked = simulated(1, dead, 0.1, until_s=600.0)
    longest_s = max(INTERVAL_S, math.ceil(dead / PLACES) * TIMEOUT_S) + 2 * TIMEOUT_S
    for times in asked.values():
        gaps = [later - before for before, later in pairwise(times)]
        assert max(gaps) <= longest_s
