"""C038: the forms of a `Retry-After`, in seconds from now."""

import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cacheroute.core.health.retry_after import parse_retry_after

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

NOW_S = 784_111_777.0
"""Sun, 06 Nov 1994 08:49:37 GMT."""


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run where the local time is another."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_no_header_is_no_hint() -> None:
    assert parse_retry_after(None, NOW_S) is None


@pytest.mark.parametrize(
    ("value", "wait_s"), [(b"0", 0.0), (b"1", 1.0), (b"120", 120.0), (b" 7\t", 7.0), (b"007", 7.0)]
)
def test_seconds_are_seconds(value: bytes, wait_s: float) -> None:
    assert parse_retry_after(value, NOW_S) == wait_s


@pytest.mark.parametrize("value", [b"9999999999", b"9" * 4000])
def test_an_absurd_number_is_a_long_wait_and_no_error(value: bytes) -> None:
    wait_s = parse_retry_after(value, NOW_S)
    assert wait_s is not None
    assert 9e9 < wait_s < 1e19


@pytest.mark.parametrize(
    "value",
    [
        b"", b" ", b"soon", b"-1", b"+5", b"1.5", b"1e3", b"1e400", b"nan", b"inf", b"30, 60",
        b"5 s", b"\xb2", "５".encode(), b"\xff\xfe", b"\x00", b"Mon", b"12:30", b"Sun, 06 Nov",
        b"Thu, 32 Foo 2999 99:99:99 GMT",
    ],
)  # fmt: skip
def test_junk_is_no_hint_at_all(value: bytes) -> None:
    assert parse_retry_after(value, NOW_S) is None


@pytest.mark.parametrize(
    "date",
    [
        b"Sun, 06 Nov 1994 08:49:37 GMT",
        b"Sunday, 06-Nov-94 08:49:37 GMT",
        b"Sun Nov  6 08:49:37 1994",
    ],
    ids=["IMF-fixdate", "RFC 850", "asctime"],
)
@pytest.mark.usefixtures("anywhere")
def test_all_three_date_forms_mean_universal_time_wherever_we_are(date: bytes) -> None:
    assert parse_retry_after(date, NOW_S - 5.0) == 5.0


def test_a_date_in_the_past_means_now() -> None:
    assert parse_retry_after(b"Sun, 06 Nov 1994 08:49:37 GMT", NOW_S + 60.0) == 0.0


def test_a_date_beyond_all_calendars_is_no_error() -> None:
    for value in (b"Fri, 31 Dec 9999 23:59:59 GMT", b"Mon, 01 Jan 0001 00:00:00 +2359"):
        wait_s = parse_retry_after(value, NOW_S)
        assert wait_s is None or wait_s >= 0


@patient
@given(st.integers(0, 4_000_000_000), st.floats(0, 4e9))
def test_a_date_is_as_far_away_as_it_says(then_s: int, now_s: float) -> None:
    wait_s = parse_retry_after(formatdate(then_s, usegmt=True).encode(), now_s)
    assert wait_s == max(0.0, then_s - now_s)


@patient
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@example(b"Sun, 06 Nov 1994 08:49:37 -9999")
@example(b"0 Jan 0 0:0:0 GMT")
def test_nothing_that_stands_there_raises_or_is_negative(value: bytes) -> None:
    wait_s = parse_retry_after(value, NOW_S)
    assert wait_s is None or 0 <= wait_s < float("inf")
