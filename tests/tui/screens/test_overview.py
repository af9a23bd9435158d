"""The first screen: the pool in boxes, the last decisions, and what is wrong."""

from dataclasses import replace

from msgspec import structs

from cacheroute_tui.screens.overview import Overview, decision_lines
from tests.tui.fleet import StillFleet, decisions, drawn_fleet, lost
from tests.tui.screens.requests import link
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


async def test_an_ejected_instance_is_counted_in_the_box_of_the_pool() -> None:
    document = drawn_fleet()
    rests = structs.replace(document.instances, ejected_for_s=[57.0, *[0.0] * 7])
    app = console(StillFleet(structs.replace(document, instances=rests)), screen="overview")
    async with shown(app, NARROW):
        text = text_of(app)

    assert "▲ ejected 1" in text
    assert "reports 6/8" in text


async def test_two_nodes_of_one_host_are_told_apart() -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.links = [
        link(f"kdn://127.0.0.1:{port}", "inst-9001", 12_000.0, best=True) for port in (40179, 40180)
    ]
    app = console(fleet, screen="overview")
    async with shown(app, NARROW):
        text = text_of(app)

    for port in (40179, 40180):
        assert f"127.0.0.1:{port}  12,000 Mbps   1.9ms" in text


async def test_of_more_nodes_than_there_is_room_for_the_title_tells() -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.links = [link(f"kdn-{n}", "inst-9001", 90.0, best=True) for n in range(4)]
    app = console(fleet, screen="overview")
    async with shown(app, NARROW):
        text = text_of(app)

    assert "Injection / KDN · 2 of 4: key 6" in text
    assert "kdn-1" in text
    assert "kdn-2" not in text


async def test_the_end_of_a_request_is_kept_where_its_name_is_long() -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.choices = [replace(decisions()[0], request_id="req-3f8a71d28064-12e")]
    app = console(fleet, screen="overview")
    async with shown(app, NARROW):
        assert "req…64-12e → inst-9001 4.90 | inst-9004 6.92  lowest score" in text_of(app)


async def test_where_alerts_are_not_listed_they_are_counted() -> None:
    app = console(screen="overview")
    async with shown(app, (60, 16)):
        assert "▲5 alerts" in text_of(app)
