"""The screens of the pool and of one Instance: the same figures as the commands print."""

import json
from dataclasses import replace

from textual.pilot import Pilot

from cacheroute.console.look import Look
from cacheroute_tui.screens.instance import InstanceDetail
from cacheroute_tui.screens.instances import Instances
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet
from tests.tui.showing import NARROW, NORMAL, WIDE, console, settle, shown, text_of


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


async def test_every_row_says_what_the_list_of_the_command_says() -> None:
    app = console(screen="instances")
    async with shown(app, WIDE) as pilot:
        await pressed(pilot, "w")
        lines = text_of(app).splitlines()

    look = Look(snapshot=drawn_fleet(), url="u")
    for row in look.instances:
        line = next(line for line in lines if f" {row.id} " in line)
        assert row.address in line
        assert f"{row.inflight}" in line
        if row.score is not None:
            assert f"{row.score:.2f}" in line
        else:
            assert "?" in line


async def test_unknown_is_a_question_mark_and_what_is_not_there_a_dash_and_never_0() -> None:
    app = console(screen="instances")
    async with shown(app):
        stale = next(line for line in text_of(app).splitlines() if "inst-9003" in line)

    assert stale.split()[4:11] == [*["—"] * 4, *["?"] * 3]


async def test_the_instance_under_the_cursor_is_explained() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await pressed(pilot, "down")
        text = text_of(app)

    assert "inst-9004 · rank 2/5 · behind inst-9001: infl +1" in text
    assert "score 6.92 = infl 4×1" in text


async def test_enter_opens_an_instance_and_escape_comes_back_to_its_row() -> None:
    app = console(screen="instances")
    async with shown(app, NORMAL) as pilot:
        await pressed(pilot, "enter")
        await app.feed.look()
        await settle(pilot)
        text = text_of(app)
        assert isinstance(app.front, InstanceDetail)
        for told in ("inst-9001", "gpu 0 A100", "61 °C", "rank 1 of 5", "r-8f2c", "tags demo"):
            assert told in text, told
        await pressed(pilot, "escape")
        assert isinstance(app.front, Instances)
        assert app.front.selected_id() == "inst-9001"


async def test_an_unreported_gpu_is_a_question_mark() -> None:
    app = console(screen="instances")
    async with shown(app, NORMAL) as pilot:
        await pressed(pilot, "enter")
        await app.feed.look()
        await settle(pilot)
        line = next(line for line in text_of(app).splitlines() if "gpu 1 A100" in line)

    assert "?" in line
    assert " 0%" not in line


async def test_n_goes_to_the_next_instance_and_back() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await pressed(pilot, "enter")
        first = app.front.selected_id() if app.front else None
        await pressed(pilot, "n")
        assert app.front is not None
        assert app.front.selected_id() == "inst-9004"
        await pressed(pilot, "N")
        assert app.front.selected_id() == first


async def test_an_instance_that_has_gone_says_so() -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet)
    async with shown(app) as pilot:
        app.push_screen(InstanceDetail("inst-gone"))
        await settle(pilot)

        assert "it is not in the pool" in text_of(app)
        assert app.front is not None
        assert app.front.selected_json() is None


async def test_what_is_selected_is_a_document() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        assert app.front is not None
        document = app.front.selected_json()
        assert isinstance(document, dict)
        assert document["id"] == app.front.selected_id()
        assert json.dumps(document)
        await pressed(pilot, "enter")
        await app.feed.look()
        await settle(pilot)
        entry = app.front.selected_json()
        assert isinstance(entry, dict)
        assert entry["instance_id"] == "inst-9001"


async def test_ages_go_on_while_nothing_comes_and_stand_while_paused() -> None:
    clock = StillClock()
    app = console(clock=clock)
    async with shown(app) as pilot:
        clock.move(20.0)
        app._tick()
        await settle(pilot)
        assert "21s" in text_of(app)


async def test_the_next_row_is_the_one_below_on_the_screen() -> None:
    app = console(screen="overview")
    async with shown(app, NARROW) as pilot:
        assert app.front is not None
        first = app.front.selected_id()
        await pressed(pilot, "down")
        assert app.front.selected_id() != first
        await pressed(pilot, "enter")
        assert isinstance(app.front, InstanceDetail)


async def test_columns_can_be_chosen_and_w_shows_the_others_all_the_same() -> None:
    app = console(screen="instances")
    app.options = replace(app.options, columns=("sign", "id", "trend", "inflight", "tags"))
    async with shown(app, WIDE) as pilot:
        [header] = [line for line in text_of(app).splitlines() if " ID " in line]
        assert header.split() == ["ID", "TREND", "INFL", "TAGS"]
        await pressed(pilot, "w")
        assert "BACKLOG" in text_of(app)
