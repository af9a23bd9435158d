"""Who rests, for how long, and how it comes back."""

import math

import pytest

from cacheroute.core.health.ejection import Ejections
from cacheroute.core.health.rules import EjectionRules
from cacheroute.core.pool_member import Member
from tests.cacheroute.core.pool_builders import an_instance


class Ward:
    """One Instance under watch, with the time in hand: 3 failures, 1 s to 5 s of rest."""

    def __init__(self, **rules: float) -> None:
        self.ejections = Ejections(EjectionRules(**rules))  # type: ignore[arg-type]
        self.member = Member(an_instance())
        self.now_s = 100.0

    @property
    def rests(self) -> bool:
        return Ejections.is_resting(self.member)

    @property
    def rest_s(self) -> float:
        """How much longer it stays out."""
        return self.member.ejected_until_mono_s - self.now_s

    def fail(self, times: int = 1) -> bool:
        return [self.ejections.on_failure(self.member, self.now_s) for _ in range(times)][-1]

    def hint(self, wait_s: float | None) -> bool:
        return self.ejections.on_hint(self.member, wait_s, self.now_s)

    def wait(self, seconds: float) -> bool:
        self.now_s += seconds
        return self.ejections.due(self.now_s)

    def on_trial(self) -> None:
        """Bring it to the end of its first rest."""
        self.fail(3)
        assert self.wait(1.0)


# Into a rest


def test_a_failure_or_two_change_nothing() -> None:
    ward = Ward()
    assert not ward.fail(2)
    assert not ward.rests


def test_a_rest_is_over_with_its_time_even_if_no_request_comes() -> None:
    ward = Ward()
    ward.fail(3)
    ends_s = ward.member.ejected_until_mono_s

    assert Ejections.rests_at(ward.member, ends_s - 0.001)
    assert not Ejections.rests_at(ward.member, ends_s)
    ward.wait(1.0)
    assert not Ejections.rests_at(ward.member, ward.now_s)
    ward.ejections.on_dispatch(ward.member)
    assert Ejections.rests_at(ward.member, ward.now_s)
    ward.ejections.on_success(ward.member)
    assert not Ejections.rests_at(ward.member, ward.now_s)


def test_three_in_a_row_bring_a_rest() -> None:
    ward = Ward()
    assert ward.fail(3)
    assert ward.rests
    assert ward.rest_s == 1.0


def test_a_good_answer_in_between_starts_the_count_anew() -> None:
    ward = Ward()
    ward.fail(2)
    assert not ward.ejections.on_success(ward.member)
    assert not ward.fail(2)
    assert not ward.rests


def test_what_says_nothing_of_it_neither_helps_nor_hurts() -> None:
    ward = Ward()
    ward.fail(2)
    assert not ward.ejections.on_neutral(ward.member)
    assert ward.fail()
    assert not ward.ejections.on_neutral(ward.member)
    assert ward.rests


def test_failures_during_a_rest_do_not_lengthen_it() -> None:
    """It is used then only because all are at rest, and the fleet must come back together."""
    ward = Ward()
    ward.fail(3)
    ward.now_s += 0.5
    assert not ward.fail(50)
    assert ward.rest_s == 0.5
    assert ward.wait(0.5)
    assert not ward.rests


# Back from it


def test_nobody_is_brought_back_too_early() -> None:
    ward = Ward()
    ward.fail(3)
    assert ward.ejections.next_return_mono_s == 101.0
    assert not ward.wait(0.99)
    assert ward.rests


def test_when_its_time_is_up_one_request_tries_it_and_others_go_elsewhere() -> None:
    ward = Ward()
    ward.on_trial()
    assert not ward.rests
    assert ward.ejections.on_dispatch(ward.member)
    assert ward.rests
    assert not ward.ejections.on_dispatch(ward.member)


def test_a_good_answer_brings_it_back_whole() -> None:
    ward = Ward()
    ward.on_trial()
    ward.ejections.on_dispatch(ward.member)
    assert ward.ejections.on_success(ward.member)
    assert not ward.rests
    assert not ward.fail(2)
    assert not ward.ejections.on_dispatch(ward.member)


def test_another_failure_sends_it_off_for_twice_as_long() -> None:
    ward = Ward()
    ward.on_trial()
    lengths = [1.0]
    for _ in range(4):
        ward.ejections.on_dispatch(ward.member)
        assert ward.fail()
        lengths.append(ward.rest_s)
        assert ward.wait(ward.rest_s)
    assert lengths == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_failure_before_anybody_tried_it_sends_it_off_as_well() -> None:
    """A probe may fail first."""
    ward = Ward()
    ward.on_trial()
    assert ward.fail()
    assert ward.rests


def test_a_trial_that_says_nothing_lets_another_one_try() -> None:
    ward = Ward()
    ward.on_trial()
    ward.ejections.on_dispatch(ward.member)
    assert ward.ejections.on_neutral(ward.member)
    assert not ward.rests
    assert ward.ejections.on_dispatch(ward.member)


def test_a_good_answer_during_a_rest_ends_it() -> None:
    ward = Ward()
    ward.fail(3)
    assert ward.ejections.on_success(ward.member)
    assert not ward.rests
    assert ward.rest_s <= 0
    assert ward.ejections.next_return_mono_s == math.inf


# At its own request


def test_a_hint_brings_a_pause_of_its_length_and_is_no_failure() -> None:
    ward = Ward()
    assert ward.hint(7.0)
    assert ward.rests
    assert ward.rest_s == 7.0
    assert ward.wait(7.0)
    assert not ward.rests
    assert not ward.ejections.on_dispatch(ward.member)
    assert not ward.rests
    assert not ward.fail(2)


@pytest.mark.parametrize(
    ("wait_s", "rest_s"), [(None, 1.0), (0.0, 0.0), (-5.0, 0.0), (299.0, 299.0), (1e10, 300.0)]
)
def test_a_hint_is_clamped_and_without_a_number_it_is_a_short_rest(
    wait_s: float | None, rest_s: float
) -> None:
    ward = Ward()
    ward.hint(wait_s)
    assert ward.rest_s == rest_s


def test_the_longer_of_two_hints_wins_whichever_comes_first() -> None:
    ward = Ward()
    ward.hint(1.0)
    assert ward.hint(30.0)
    assert ward.rest_s == 30.0
    assert not ward.hint(2.0)
    assert not ward.hint(None)
    assert ward.rest_s == 30.0


def test_a_shorter_hint_does_not_cut_a_rest_after_failures_short() -> None:
    ward = Ward(cool_down_s=4.0)
    ward.fail(3)
    assert not ward.hint(1.0)
    assert ward.rest_s == 4.0


def test_a_hint_of_nothing_is_over_at_once() -> None:
    ward = Ward()
    ward.hint(0.0)
    assert ward.ejections.next_return_mono_s <= ward.now_s
    assert ward.wait(0.0)
    assert not ward.rests


def test_a_hint_during_a_trial_is_kept_and_the_trial_comes_after_it() -> None:
    ward = Ward()
    ward.on_trial()
    ward.ejections.on_dispatch(ward.member)
    assert ward.hint(3.0)
    assert ward.wait(3.0)
    assert ward.ejections.on_dispatch(ward.member)


def test_failures_before_a_hint_are_not_forgotten_by_it() -> None:
    ward = Ward()
    ward.fail(2)
    ward.hint(1.0)
    ward.wait(1.0)
    assert ward.fail()
    assert ward.rests


# Several


def test_each_comes_back_when_its_own_time_is_up() -> None:
    ejections = Ejections(EjectionRules())
    first, second = Member(an_instance("a")), Member(an_instance("b"))
    ejections.on_hint(first, 10.0, 0.0)
    ejections.on_hint(second, 2.0, 0.0)
    assert ejections.next_return_mono_s == 2.0
    assert ejections.due(2.0)
    assert [Ejections.is_resting(m) for m in (first, second)] == [True, False]
    assert ejections.next_return_mono_s == 10.0


def test_one_that_has_left_is_waited_for_no_longer() -> None:
    ward = Ward()
    ward.fail(3)
    ward.ejections.forget(ward.member)
    assert ward.ejections.next_return_mono_s == math.inf
    assert not ward.wait(1000.0)
