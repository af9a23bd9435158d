import pytest

from cacheroute.member.log import StateLog


def test_the_same_news_twice_is_no_news(capsys: pytest.CaptureFixture[str]) -> None:
    log = StateLog("registration")
    log.say("failed", "cannot reach it (refused)")
    log.say("failed", "cannot reach it (timed out)")
    log.say("registered", "in the pool")
    log.say("failed", "cannot reach it (refused)")
    assert capsys.readouterr().err.splitlines() == [
        "registration: cannot reach it (refused)",
        "registration: in the pool",
        "registration: cannot reach it (refused)",
    ]
