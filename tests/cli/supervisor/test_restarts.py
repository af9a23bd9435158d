"""After an end: again, done, or given up; by the exit code, the rule and the time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute_cli.supervisor.process import RestartMode, RestartRule
from cacheroute_cli.supervisor.restarts import Again, Done, GivenUp, Restarts, told


def after(
    restarts: Restarts, code: int, now_s: float = 0.0, lived_s: float = 0.0, *, ready: bool = True
) -> Again | Done | GivenUp:
    return restarts.after(code, now_s=now_s, lived_s=lived_s, was_ready=ready)


@pytest.mark.parametrize(
    ("mode", "code", "kind"),
    [
        ("never", 0, Done),
        ("never", 1, GivenUp),
        ("on-failure", 0, Done),
        ("on-failure", 1, Again),
        ("on-failure", -9, Again),
        ("always", 0, Again),
    ],
)
def test_the_mode_says_which_ends_are_followed_by_a_start(
    mode: RestartMode, code: int, kind: type
) -> None:
    assert isinstance(after(Restarts(RestartRule(mode=mode), is_ours=True), code), kind)


def test_the_pause_doubles_up_to_the_longest() -> None:
    restarts = Restarts(RestartRule(first_s=1, longest_s=5, most=9), is_ours=True)

    pauses = [after(restarts, 1) for _ in range(5)]

    assert pauses == [Again(pause_s=s) for s in (1, 2, 4, 5, 5)]
    assert restarts.count == 5


def test_who_has_lived_long_enough_begins_anew() -> None:
    restarts = Restarts(RestartRule(first_s=1, longest_s=30), is_ours=True)
    after(restarts, 1)
    after(restarts, 1)

    assert after(restarts, 1, lived_s=31) == Again(pause_s=1)


def test_too_many_in_the_window_is_a_failure_and_old_ones_do_not_count() -> None:
    rule = RestartRule(most=2, window_s=60)
    restarts = Restarts(rule, is_ours=True)
    after(restarts, 1, now_s=0)
    after(restarts, 1, now_s=10)

    assert after(restarts, 7, now_s=60) == GivenUp(
        why="ended with exit 7, after 2 restarts in 60 s"
    )
    assert isinstance(after(restarts, 7, now_s=60.1), Again)


def test_no_restart_at_all_is_a_rule_too() -> None:
    assert isinstance(after(Restarts(RestartRule(most=0), is_ours=True), 1), GivenUp)


@pytest.mark.parametrize(
    ("code", "is_ours", "ready", "kind"),
    [
        (2, True, True, GivenUp),
        (2, False, True, Again),
        (5, True, False, GivenUp),
        (5, True, True, Again),
        (5, False, False, Again),
        (9, True, False, GivenUp),
    ],
)
def test_our_own_programs_say_when_another_try_is_of_no_use(
    code: int, is_ours: bool, ready: bool, kind: type
) -> None:
    assert isinstance(after(Restarts(RestartRule(), is_ours=is_ours), code, ready=ready), kind)


@given(st.lists(st.floats(0, 100), max_size=60))
def test_never_more_restarts_in_a_window_than_allowed(passed: list[float]) -> None:
    rule = RestartRule(most=3, window_s=50)
    restarts = Restarts(rule, is_ours=False)
    now_s, starts = 0.0, []
    for step in passed:
        now_s += step
        if isinstance(after(restarts, 1, now_s=now_s), Again):
            starts.append(now_s)

    assert len(starts) >= min(rule.most, len(passed))
    assert all(b - a > rule.window_s for a, b in zip(starts, starts[rule.most :], strict=False))


def test_an_end_is_told_by_exit_or_signal() -> None:
    assert (told(3), told(-9)) == ("ended with exit 3", "was ended by signal 9")
