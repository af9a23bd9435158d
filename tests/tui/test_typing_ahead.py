"""Keys that come faster than they are handled reach what they were meant for."""

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
