"""The screen of one Instance: what is known of it, and why something is not."""

from cacheroute.console.cells import cells
from cacheroute.console.look import Look
from cacheroute_tui.screens.instance import InstanceDetail, identity_lines, resource_lines
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.screens.requests import link
from tests.tui.showing import NORMAL, console, settle, shown, text_of

ROWS = {row.id: row for row in Look(snapshot=drawn_fleet(), url="").instances}


def test_an_instance_that_drains_says_so_beside_its_state() -> None:
    head = "".join(span.text for span in identity_lines(ROWS["inst-9005"], None)[0])

    assert "drain (alive)" in head
    assert "127.0.0.1:9005" in head


def test_gpus_that_cannot_be_told_apart_have_a_reason() -> None:
    waiting = resource_lines(ROWS["inst-9001"], None, None)
    refused = resource_lines(ROWS["inst-9001"], None, "no such route")

    assert waiting[-1][0].text == " GPU by GPU: asked for, not answered yet"
    assert refused[-1][0].text == " GPU by GPU: no such route"


async def test_parts_that_the_source_cannot_tell_are_named_and_the_rest_is_shown() -> None:
    app = console(StillFleet(drawn_fleet(), missing=("decisions", "topology")))
    async with shown(app, NORMAL) as pilot:
        app.push_screen(InstanceDetail("inst-9004"))
        await settle(pilot)
        await app.feed.look()
        await settle(pilot)
        text = text_of(app)

    assert "rank 2 of 5" in text
    assert text.count("not told: ") == 2


async def test_links_stand_below_each_other_whatever_their_nodes_are_called() -> None:
    fleet = StillFleet(drawn_fleet())
    names = ("kdn-1", "知识库", "a" * 80)
    fleet.links = [link(name, "inst-9004", 90.0) for name in names]
    app = console(fleet)
    async with shown(app, NORMAL) as pilot:
        app.push_screen(InstanceDetail("inst-9004"))
        await settle(pilot)
        await app.feed.look()
        await settle(pilot)
        lines = [line for line in text_of(app).splitlines() if "90 Mbps" in line]

    assert len(lines) == len(names)
    assert len({cells(line.partition("90 Mbps")[0]) for line in lines}) == 1


async def test_after_the_last_instance_comes_the_first() -> None:
    app = console()
    async with shown(app) as pilot:
        app.push_screen(InstanceDetail("inst-9001"))
        await settle(pilot)
        seen = []
        for _ in range(len(ROWS)):
            await pilot.press("n")
            assert app.front is not None
            seen.append(app.front.selected_id())

    assert sorted(one or "" for one in seen) == sorted(ROWS)
    assert seen[-1] == "inst-9001"


async def test_a_source_that_does_not_know_since_when_says_nothing_of_it() -> None:
    fleet = StillFleet(drawn_fleet())
    told = await fleet.instance("inst-9001")
    assert told is not None

    known, unknown = (
        "".join(span.text for span in identity_lines(ROWS["inst-9001"], entry)[0])
        for entry in (told, told.model_copy(update={"registered_at": 0}))
    )

    assert "registered since 2025-11-30" in known
    assert "since" not in unknown
