"""What the console is started with: names of targets, who may write, and the steps of + and -."""

import pytest

from cacheroute_tui.options import INTERVALS_S, MAX_INTERVAL_S, MIN_INTERVAL_S, Target, TuiOptions

URL = "http://127.0.0.1:8002"


def test_a_target_is_called_by_its_label_then_its_name() -> None:
    assert Target(proxy_url=URL, name="lab", label="The lab").title == "The lab"
    assert Target(proxy_url=URL, name="lab").title == "lab"
    assert Target(proxy_url=URL).title == "proxy"


@pytest.mark.parametrize(
    ("write", "readonly", "expected"),
    [(True, False, True), (True, True, False), (False, False, False), (False, True, False)],
)
def test_changes_need_leave_and_a_context_that_takes_them(
    write: bool, readonly: bool, expected: bool
) -> None:
    options = TuiOptions(target=Target(proxy_url=URL, readonly=readonly), write=write)

    assert options.may_write is expected


def test_a_token_is_not_in_what_is_printed_of_a_target() -> None:
    assert "s3cret" not in repr(Target(proxy_url=URL, token="s3cret"))


def test_the_steps_of_the_interval_rise_from_the_least_to_the_most() -> None:
    assert list(INTERVALS_S) == sorted(set(INTERVALS_S))
    assert (INTERVALS_S[0], INTERVALS_S[-1]) == (MIN_INTERVAL_S, MAX_INTERVAL_S)
