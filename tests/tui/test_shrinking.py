"""A terminal that becomes too small and larger again: nothing is lost, and nothing is answered."""

from collections.abc import Sequence

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input

from cacheroute_tui.app import SCREENS, ConsoleApp
from cacheroute_tui.options import Target
from cacheroute_tui.screens.command_output import CommandOutput
from cacheroute_tui.widgets.confirm import Confirm
from cacheroute_tui.widgets.filter_line import FilterLine
from cacheroute_tui.widgets.too_small import MIN_HEIGHT, MIN_WIDTH
from tests.tui.showing import NARROW, console, settle, shown, text_of

NAMES = [one.NAME for one in SCREENS]
TARGETS = (Target(proxy_url="http://a", name="a"), Target(proxy_url="http://b", name="b"))
SIZES = ((40, 10), (20, 5), (10, 3), (1, 1))


async def resized(pilot: Pilot[int], *sizes: tuple[int, int]) -> None:
    for size in sizes:
        await pilot.resize_terminal(*size)
        await settle(pilot)


async def stays_as_it_is(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await settle(pilot)
    before, focused, stack = text_of(app), app.focused, tuple(app.screen_stack)
    for size in SIZES:
        await resized(pilot, size)
        text = text_of(app)
        assert text.startswith(("●", "✕", "◐"))
        assert len([line for line in text.split("\n") if line]) <= 3, text
        assert len(text.split("\n")) == size[1]
    await resized(pilot, NARROW)
    assert text_of(app) == before
    assert app.focused is focused
    assert tuple(app.screen_stack) == stack


@pytest.mark.parametrize("name", NAMES)
async def test_every_screen_is_a_line_and_comes_back_as_it_was(name: str) -> None:
    app = console(screen=name)
    async with shown(app) as pilot:
        await pilot.press("down")
        await stays_as_it_is(app, pilot)
        await pilot.press("tab")
        await stays_as_it_is(app, pilot)


DIALOGS: Sequence[tuple[str, Sequence[str]]] = (
    ("instances", ("question_mark",)),
    ("instances", ("e",)),
    ("instances", ("s", "down", "down")),
    ("instances", ("C", "down")),
    ("instances", ("enter",)),
    ("instances", ("ctrl+p", "q", "u")),
    ("instances", ("slash", *"9001")),
    ("instances", ("colon", *"sta")),
    ("scores", ("e",)),
    ("scores", ("w", "backspace")),
    ("raw", ("slash", "o")),
    ("processes", ("ampersand", "x")),
)


@pytest.mark.parametrize(("name", "keys"), DIALOGS, ids=lambda one: "-".join([*one]))
async def test_everything_that_may_be_open_is_a_line_and_comes_back_as_it_was(
    name: str, keys: Sequence[str]
) -> None:
    app = console(screen=name, targets=TARGETS)
    async with shown(app) as pilot:
        await pilot.press(*keys)
        await stays_as_it_is(app, pilot)


@pytest.mark.parametrize("typed", [None, "inst-9001"])
async def test_a_question_that_cannot_be_read_is_not_answered(typed: str | None) -> None:
    answers: list[bool | None] = []
    app = console(write=True)
    async with shown(app) as pilot:
        app.push_screen(Confirm("drain", "2 requests will finish.", typed=typed), answers.append)
        await stays_as_it_is(app, pilot)
        await resized(pilot, (40, 10))
        await pilot.press("y", "n", *(typed or ""), "enter", "escape")
        await settle(pilot)
        assert answers == []
        await resized(pilot, NARROW)
        await pilot.press("escape")
        await settle(pilot)
    assert answers == [False]


async def test_the_output_of_a_command_goes_on_below_the_line() -> None:
    app = console()
    async with shown(app) as pilot:
        app.run_line("explain score")
        for _ in range(500):
            await pilot.pause(0.02)
            if isinstance(app.screen, CommandOutput) and app.screen.ended is not None:
                break
        await stays_as_it_is(app, pilot)


async def test_letters_are_not_keys_while_a_field_that_is_hidden_has_the_focus() -> None:
    app = console()
    async with shown(app) as pilot:
        await pilot.press("slash", "a")
        await resized(pilot, (40, 10))
        assert text_of(app).endswith("^c Quit")
        await pilot.press("q", "p", "b")
        app.post_message(events.Paste("pasted"))
        await settle(pilot)
        assert app.is_running
        assert not app.is_paused
        await resized(pilot, NARROW)
        assert app.screen.query_one(FilterLine).query_one(Input).value == "a"


@pytest.mark.parametrize(("key", "code"), [("q", None), ("ctrl+c", 130)])
async def test_there_are_two_ways_out_of_a_terminal_that_is_too_small(
    key: str, code: int | None
) -> None:
    app = console()
    async with shown(app, (20, 5)) as pilot:
        await pilot.press(key)
        await settle(pilot)

    assert not app.is_running
    assert app.return_value == code


async def test_no_key_and_no_click_does_what_cannot_be_seen() -> None:
    app = console(write=True)
    async with shown(app, (40, 10)) as pilot:
        await pilot.press("d", "1", "s", "colon", "t", "down", "question_mark")
        await pilot.click(offset=(3, 1))
        await settle(pilot)

        assert app.current_mode == "instances"
        assert len(app.screen_stack) == 1
        assert app.palette.name == "dark"
        await resized(pilot, (MIN_WIDTH, MIN_HEIGHT))
        assert "2INST" in text_of(app)
        assert app.front is not None
        assert app.front.selected_id() == "inst-9001"


async def test_a_dialog_that_opens_meanwhile_is_covered_and_seen_later() -> None:
    app = console(write=True)
    async with shown(app, (40, 10)) as pilot:
        app.push_screen(Confirm("drain", "2 requests will finish."))
        await settle(pilot)
        assert "requests" not in text_of(app)
        await resized(pilot, NARROW)
        assert "2 requests will finish." in text_of(app)
        await pilot.press("n")
        await settle(pilot)
        assert "inst-9001" in text_of(app)


async def test_below_the_line_nothing_is_drawn() -> None:
    app = console()
    async with shown(app) as pilot:
        front = app.front
        assert front is not None
        await resized(pilot, (40, 10))
        drawn = front._drawn_rev
        await app.feed.look()
        await settle(pilot)
        assert front._drawn_rev == drawn
        await resized(pilot, NARROW)
        assert front._drawn_rev > drawn
