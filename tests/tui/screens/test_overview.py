"""The first screen: the pool in boxes, the last decisions, and what is wrong."""

from cacheroute_tui.screens.overview import Overview, decision_lines
from tests.tui.fleet import StillFleet, decisions, drawn_fleet, lost
from tests.tui.showing import NARROW, NORMAL, WIDE, console, shown, text_of


def test_a_decision_says_who_and_against_whom_and_nobody_where_there_is_none() -> None:
    clear, tied, _, blind, refused = (
        "".join(span.text for span in line) for line in decision_lines(decisions())
    )

    assert "→ inst-9001 4.90 | inst-9004 6.92  lowest score" in clear
    assert "→ inst-9004 4.90 = inst-9001 4.90  tie, by turns" in tied
    assert "→ inst-9002   no signal" in blind
    assert "→ nobody no Instance is eligible" in refused


def test_before_the_first_decision_there_is_a_line_that_says_so() -> None:
    [[span]] = decision_lines([])

    assert span.text == " nothing was decided yet"


async def test_the_boxes_count_the_pool() -> None:
    app = console(screen="overview")
    async with shown(app, NORMAL):
        text = text_of(app)

    for told in ("alive 5", "stale 1", "dead 1", "draining 1", "acc 5  deg 1  rej 0"):
        assert told in text, told
    assert "reports 6/8" in text


async def test_charts_are_shown_only_where_there_is_room() -> None:
    for size, expected in ((NARROW, False), (NORMAL, False), (WIDE, True)):
        app = console(screen="overview")
        async with shown(app, size):
            assert isinstance(app.front, Overview)
            assert app.front.shows_charts is expected


async def test_a_proxy_that_was_never_reached_is_why_the_pool_is_empty() -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.trouble = lost()
    app = console(fleet, screen="overview")
    async with shown(app, NORMAL):
        assert "connection refused" in text_of(app)
