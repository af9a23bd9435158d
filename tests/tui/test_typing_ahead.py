"""Keys that come faster than they are handled reach what they were meant for."""

import asyncio

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.widgets.filter_line import FilterLine
from tests.tui.showing import console, settle, shown

_NAMES = {"/": "slash", ":": "colon", "\r": "enter"}


async def typed_at_once(app: ConsoleApp, pilot: Pilot[int], text: str) -> None:
    for one in text:
        app.post_message(events.Key(_NAMES.get(one, one), one))
    await settle(pilot)


async def test_a_letter_right_behind_the_slash_is_the_filter_and_not_a_command() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await typed_at_once(app, pilot, "/qpq")

        assert app.is_running
        assert not app.is_paused
        assert app.screen.query_one(FilterLine).query_one(Input).value == "qpq"


@pytest.mark.parametrize("name", ["instances", "overview", "processes"])
async def test_a_letter_right_behind_the_colon_is_the_command(name: str) -> None:
    app = console(screen=name)
    async with shown(app) as pilot:
        await typed_at_once(app, pilot, ":pq")

        assert app.is_running
        assert not app.is_paused
        assert isinstance(app.focused, Input)
        assert app.focused.value == "pq"


async def test_a_key_right_behind_the_one_that_opens_a_menu_is_for_the_menu() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        before = len(app.screen_stack)
        await typed_at_once(app, pilot, "s\r")

        # Enter has chosen; behind the menu it would have opened an Instance.
        assert len(app.screen_stack) == before
        assert app.screen.name == "instances" or app.current_mode == "instances"


async def test_keys_of_the_table_come_one_after_the_other() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await typed_at_once(app, pilot, "p")
        assert app.is_paused
        await typed_at_once(app, pilot, "pp")
        assert app.is_paused


@pytest.mark.parametrize("turns", range(12))
async def test_keys_keep_their_order_whenever_they_come_while_the_focus_moves(turns: int) -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        for one in "/abcdefgh":
            app.post_message(events.Key(_NAMES.get(one, one), one))
            for _ in range(turns):
                await asyncio.sleep(0)
        await settle(pilot)

        assert app.screen.query_one(FilterLine).query_one(Input).value == "abcdefgh"


async def test_what_is_pasted_right_behind_the_slash_is_the_filter() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        app.post_message(events.Key("slash", "/"))
        app.post_message(events.Paste("inst-9001"))
        app.post_message(events.Key("x", "x"))
        await settle(pilot)

        assert app.screen.query_one(FilterLine).query_one(Input).value == "inst-9001x"


async def test_a_key_right_behind_the_one_that_closes_the_field_is_for_the_rows() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await typed_at_once(app, pilot, "/inst\rp")

        assert app.is_paused
        assert app.screen.query_one(FilterLine).query_one(Input).value == "inst"


async def test_a_key_right_behind_the_one_that_enters_a_command_is_for_the_rows() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await typed_at_once(app, pilot, ":\rp")

        assert app.is_paused


async def test_enter_right_behind_what_cannot_be_read_leaves_the_field_open() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await typed_at_once(app, pilot, "/gpux>45\rp")

        assert not app.is_paused
        assert app.screen.query_one(FilterLine).query_one(Input).value == "gpux>45p"
