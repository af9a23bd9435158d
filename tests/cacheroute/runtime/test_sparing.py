"""Strangers cannot fill the log."""

import logging

import pytest

from cacheroute.runtime.sparing import SparingLog


class Minute:
    def __init__(self) -> None:
        self.mono_s = 100.0

    def __call__(self) -> float:
        return self.mono_s


def test_a_minute_has_twenty_lines_and_the_next_one_tells_what_was_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = Minute()
    log = SparingLog(logging.getLogger("test.sparing"), now)
    for number in range(50):
        log.warning("stranger id=%d", number)
    assert [record.getMessage() for record in caplog.records] == [
        f"stranger id={number}" for number in range(20)
    ]
    caplog.clear()
    now.mono_s += 60.0
    log.warning("stranger id=%d", 50)
    assert [record.getMessage() for record in caplog.records] == [
        "log.left_out lines=30",
        "stranger id=50",
    ]


def test_a_quiet_minute_leaves_nothing_to_tell(caplog: pytest.LogCaptureFixture) -> None:
    now = Minute()
    log = SparingLog(logging.getLogger("test.sparing"), now)
    log.warning("one")
    now.mono_s += 61.0
    log.warning("two")
    assert [record.getMessage() for record in caplog.records] == ["one", "two"]
