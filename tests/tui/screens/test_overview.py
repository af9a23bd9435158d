"""The first screen: the pool in boxes, the last decisions, and what is wrong."""

from dataclasses import replace

import pytest
from msgspec import structs

from cacheroute.wire.console import KdnNodes, Knowledge
from cacheroute_tui.screens.overview import Overview, decision_lines
from tests.tui.fleet import WALL_S, StillFleet, decisions, drawn_fleet, lost
from tests.tui.screens.requests import link
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of


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


async def test_one_from_the_settings_that_answers_no_probe_is_not_counted_as_alive() -> None:
    document = drawn_fleet()
    assert document.identities is not None
    who = structs.replace(document.identities, origin="static")
    aged = structs.replace(document.instances, age_s=[200.0, *[0.1] * 7])
    changed = structs.replace(document, identities=who, instances=aged)
    app = console(StillFleet(changed), screen="overview")
    async with shown(app, NARROW):
        text = text_of(app)

    assert "○ silent 1" in text


async def test_two_nodes_of_one_host_are_told_apart() -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.links = [
        link(f"kdn://127.0.0.1:{port}", "inst-9001", 12_000.0, best=True) for port in (40179, 40180)
    ]
    app = console(fleet, screen="overview")
    async with shown(app, NARROW):
        text = text_of(app)

    for port in (40179, 40180):
        assert f":{port} ? 12,000 Mbps   1.9ms q ?" in text


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


async def test_a_node_that_fails_comes_first_and_what_waits_is_told() -> None:
    fleet = StillFleet(
        structs.replace(
            drawn_fleet(),
            kdn=KdnNodes(
                nodes=["kdn-3", "kdn-1", "kdn-2"], answers=[False, True, None], waiting=[6, 0, 0]
            ),
        )
    )
    fleet.links = [link(f"kdn-{n}", "inst-9001", 820.0, best=True) for n in (1, 2, 3)]
    app = console(fleet, screen="overview")
    async with shown(app, NORMAL):
        lines = text_of(app).splitlines()

    at = next(at for at, line in enumerate(lines) if "kdn-3" in line)
    assert "▲    820 Mbps   1.9ms queue 6" in lines[at]
    assert "● " in lines[at + 1]
    assert "kdn-1" in lines[at + 1]


async def test_what_became_of_knowledge_is_told_over_the_last_minutes() -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet, screen="overview")
    counts = ((700, 300, 5), (706, 304, 7))
    async with shown(app, NARROW) as pilot:
        for at, (text, kv, fallback) in enumerate(counts):
            fleet.document = structs.replace(
                fleet.document,
                rev=2 + at,
                generated_at=WALL_S + 61 + 60 * at,
                knowledge=Knowledge(text_inject=text, kv_inject=kv, fallback=fallback),
            )
            await app.feed.look()
            await settle(pilot)
            shown_then = text_of(app)
            assert (" text ?  kv ?  fallback ?  (0s)" in shown_then) == (at == 0)

        assert " text 50%  kv 33%  fallback 17% (1m)" in shown_then


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        # Where nearly all go on with less, the few that do not must not read as if all were well.
        ((3, 0, 433), "text <1%  kv 0%  fallback 99% (1m)"),
        ((0, 0, 8), "text 0%  kv 0%  fallback 100% (1m)"),
        ((500, 499, 1), "text 50%  kv 50%  fallback <1% (1m)"),
    ],
)
async def test_the_shares_are_of_all_requests_with_knowledge(
    counts: tuple[int, int, int], told: str
) -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.document = structs.replace(fleet.document, knowledge=Knowledge())
    app = console(fleet, screen="overview")
    async with shown(app, NARROW) as pilot:
        text, kv, fallback = counts
        fleet.document = structs.replace(
            fleet.document,
            rev=2,
            generated_at=WALL_S + 60,
            knowledge=Knowledge(text_inject=text, kv_inject=kv, fallback=fallback),
        )
        await app.feed.look()
        await settle(pilot)

        assert told in text_of(app)
