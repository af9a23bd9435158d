"""The frame: every common key on every screen, pausing, losing the Proxy, and other contexts."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from cacheroute.console.look import Look
from cacheroute.console.source import Source
from cacheroute_tui.app import SCREENS, ConsoleApp
from cacheroute_tui.keymap import COMMON
from cacheroute_tui.options import Target, TuiOptions
from cacheroute_tui.widgets.filter_line import FilterLine
from cacheroute_tui.widgets.menu import Menu
from cacheroute_tui.widgets.sheet import Sheet
from tests.tui.fleet import StillClock, StillFleet, drawn_fleet, lost
from tests.tui.showing import NARROW, console, settle, shown, text_of

Check = Callable[[ConsoleApp, Pilot[int]], Awaitable[None]]
NAMES = [one.NAME for one in SCREENS]


async def pressed(pilot: Pilot[int], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


async def help_(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "question_mark")
    assert isinstance(app.screen, Sheet)
    assert "Leave the console." in text_of_sheet(app)
    await pressed(pilot, "escape")
    assert not isinstance(app.screen, Sheet)


def text_of_sheet(app: ConsoleApp) -> str:
    return "\n".join("".join(span.text for span in line) for line in app.screen._lines)  # type: ignore[attr-defined]


async def pause(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "p")
    assert app.is_paused
    assert "missed; p goes on" in text_of(app)
    await pressed(pilot, "p")
    assert not app.is_paused
    assert "missed" not in text_of(app)


async def refresh(app: ConsoleApp, pilot: Pilot[int]) -> None:
    before = looks_of(app)
    await pressed(pilot, "full_stop")
    assert looks_of(app) > before


async def slower(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "minus")
    assert app.feed.interval_s == 2.0
    assert "every 2s" in text_of(app)
    await pressed(pilot, "plus")
    assert app.feed.interval_s == 1.0


async def faster(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "plus", "plus")
    assert app.feed.interval_s == 0.5
    await pressed(pilot, "minus")
    assert app.feed.interval_s == 1.0


async def theme(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "t")
    assert app.palette.name == "light"
    app.take_theme("dark")
    await settle(pilot)


async def explain(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "e")
    assert isinstance(app.screen, Sheet)
    assert text_of_sheet(app)
    await pressed(pilot, "escape")


async def context(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "C")
    assert isinstance(app.screen, Menu)
    await pressed(pilot, "escape")
    assert not isinstance(app.screen, Menu)


async def clear(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "c")
    assert len(app.store.history.times_s) <= 1


async def back(app: ConsoleApp, pilot: Pilot[int]) -> None:
    front = app.front
    await pressed(pilot, "escape")
    assert app.front is front


async def previous(app: ConsoleApp, pilot: Pilot[int]) -> None:
    here = app.current_mode
    other = "raw" if here != "raw" else "queues"
    app.switch_mode(other)
    await settle(pilot)
    app.switch_mode(here)
    await settle(pilot)
    await pressed(pilot, "backspace")
    assert app.current_mode == other
    app.switch_mode(here)
    await settle(pilot)


async def step(app: ConsoleApp, pilot: Pilot[int]) -> None:
    await pressed(pilot, "left_curly_bracket", "right_curly_bracket")
    assert not app.is_paused  # a Proxy has no steps; those of a recording are tested elsewhere


def looks_of(app: ConsoleApp) -> int:
    assert isinstance(app.source, StillFleet)
    return app.source.looks


CHECKS: Mapping[str, Check] = {
    "help": help_,
    "pause": pause,
    "step.back": step,
    "step.on": step,
    "refresh": refresh,
    "slower": slower,
    "faster": faster,
    "theme": theme,
    "explain": explain,
    "context": context,
    "clear": clear,
    "back": back,
    "previous": previous,
}
"""What each common key does, by its id."""
ELSEWHERE = {"quit", "quit.now", "suspend", *(f"screen.{number}" for number in range(1, 10))}
"""Those that are tested below."""


def test_every_common_key_has_a_check() -> None:
    assert {key.id for key in COMMON} == CHECKS.keys() | ELSEWHERE


@pytest.mark.parametrize("name", NAMES)
async def test_every_common_key_does_its_action_on_every_screen(name: str) -> None:
    targets = (Target(proxy_url="http://127.0.0.1:8002", name="local"),)
    app = console(screen=name, targets=targets)
    own = {key.id for key in next(one for one in SCREENS if name == one.NAME).every_key()}
    async with shown(app) as pilot:
        for key, check in CHECKS.items():
            if key in own:
                await check(app, pilot)
                assert app.current_mode == name, key


@pytest.mark.parametrize(
    ("name", "key", "code"),
    [*((name, "q", None) for name in NAMES[::2]), *((name, "ctrl+c", 130) for name in NAMES[1::2])],
)
async def test_q_and_ctrl_c_leave_from_a_screen(name: str, key: str, code: int | None) -> None:
    app = console(screen=name)
    async with shown(app) as pilot:
        await pressed(pilot, key)

    assert not app.is_running
    assert app.return_value == code
    assert isinstance(app.source, StillFleet)
    assert app.source.closed


async def test_a_number_goes_to_its_screen() -> None:
    app = console(screen="overview")
    async with shown(app) as pilot:
        for one in reversed(SCREENS):
            await pressed(pilot, str(one.NUMBER))
            assert app.current_mode == one.NAME
            assert app.front is not None
            assert app.front.NAME == one.NAME


async def test_a_click_on_a_tab_goes_there() -> None:
    app = console(screen="overview")
    async with shown(app) as pilot:
        await pilot.click("#tabs", offset=(7, 0))
        await settle(pilot)

        assert app.current_mode == "instances"


async def test_single_letters_go_into_the_field_that_has_the_focus() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await pressed(pilot, "slash", "q", "p", "t", "1", "question_mark")

        assert app.is_running
        assert app.screen.query_one(FilterLine).query_one(Input).value == "qpt1?"
        assert not app.is_paused
        assert app.current_mode == "instances"


async def test_ctrl_c_copies_what_is_selected_in_a_field_and_does_not_leave() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        await pressed(pilot, "slash", *"abc")
        app.screen.query_one(FilterLine).query_one(Input).select_all()
        await pressed(pilot, "ctrl+c")

        assert app.is_running
        assert app.clipboard == "abc"


async def test_the_first_picture_is_there_before_the_first_answer() -> None:
    class Silent(StillFleet):
        async def look(self) -> Look:
            await asyncio.Event().wait()
            return await super().look()

    app = console(Silent(drawn_fleet()), screen="instances")
    async with app.run_test(size=NARROW) as pilot:
        await settle(pilot)
        text = text_of(app)

    assert "CONNECTING" in text
    assert "connecting …" in text
    assert "q Quit" in text


async def test_paused_the_picture_stands_and_the_looks_that_were_missed_are_counted() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock)
    async with shown(app) as pilot:
        await pressed(pilot, "p")
        looks = fleet.looks
        for _ in range(3):
            await app.feed.look()
        clock.move(12.0)
        app._tick()
        await settle(pilot)
        text = text_of(app)

        # The one that ended the wait counts as well, if it came.
        assert "paused 12s," in text
        assert "looks missed" in text
        assert fleet.looks == looks
        await pressed(pilot, "p")
        assert fleet.looks > looks


async def test_a_lost_proxy_is_told_of_with_a_countdown_and_comes_back_with_a_word() -> None:
    clock, fleet = StillClock(), StillFleet(drawn_fleet())
    app = console(fleet, clock=clock)
    async with shown(app) as pilot:
        fleet.trouble = lost()
        for _ in range(3):
            clock.move(1.0)
            await app.feed.look()
        await settle(pilot)
        text = text_of(app)
        assert "✕ LOST" in text.splitlines()[0]
        assert "again in 1 s, . tries now" in text
        assert "connection refused" in text
        assert "inst-9001" in text, "what was seen stays"
        clock.move(40.0)
        app._tick()
        await settle(pilot)
        assert "43s" in text_of(app), "ages go on counting"

        fleet.trouble = None
        await app.feed.look()
        await settle(pilot)
        back = text_of(app)
        assert "● LIVE" in back
        assert "tries now" not in back
        assert "local is back after 42s" in back
        assert app.is_running


@pytest.mark.parametrize("name", NAMES)
async def test_no_screen_minds_a_proxy_that_was_never_there(name: str) -> None:
    fleet = StillFleet(drawn_fleet())
    fleet.trouble = lost()
    app = console(fleet, screen=name)
    async with shown(app) as pilot:
        for _ in range(3):
            await app.feed.look()
        await settle(pilot)

        assert "✕ LOST" in text_of(app)
        assert app.is_running


def two_proxies() -> tuple[dict[str, StillFleet], ConsoleApp]:
    fleets = {name: StillFleet(drawn_fleet()) for name in ("http://a", "http://b")}
    targets = (Target(proxy_url="http://a", name="a"), Target(proxy_url="http://b", name="b"))

    def connect(target: Target, _: bool) -> Source:
        return fleets[target.proxy_url]

    options = TuiOptions(target=targets[0], targets=targets, screen="instances")
    return fleets, ConsoleApp(options, connect=connect, clock=StillClock())


async def test_another_context_can_be_chosen_while_this_one_is_down() -> None:
    fleets, app = two_proxies()
    fleets["http://a"].trouble = lost()
    async with shown(app) as pilot:
        assert "connection refused" in text_of(app)
        await pressed(pilot, "C", "down", "enter")
        await settle(pilot)
        text = text_of(app)

        assert "▸b" in text
        assert "● LIVE" in text
        assert "inst-9001" in text
        assert fleets["http://a"].closed
        assert app.front is not None
        assert app.front.snapshot.connection.name == "http://b"


async def test_a_context_that_only_looks_stays_so_in_a_console_that_may_write() -> None:
    def connect(target: Target, may_write: bool) -> Source:
        allowed.append(may_write)
        return StillFleet(drawn_fleet())

    allowed: list[bool] = []
    targets = (
        Target(proxy_url="http://a", name="a"),
        Target(proxy_url="http://b", name="b", readonly=True),
    )
    options = TuiOptions(target=targets[0], targets=targets, screen="instances", write=True)
    app = ConsoleApp(options, connect=connect, clock=StillClock())
    async with shown(app) as pilot:
        assert "WRITE" in text_of(app)
        await app.look_at(targets[1])
        await settle(pilot)

        assert "  RO  " in text_of(app)
        assert not app.may_write
    assert allowed == [True, False]


async def test_names_with_brackets_are_text() -> None:
    fleet = StillFleet(drawn_fleet())
    assert fleet.document.identities is not None
    fleet.document.identities.ids[0] = "[red]x[/red]"
    app = console(fleet)
    async with shown(app) as pilot:
        await pressed(pilot, "j")
        text = text_of(app)

    assert "[red]x[/red]" in text


async def test_what_the_configuration_asks_in_vain_is_told_at_the_start() -> None:
    app = console()
    app.options = replace(app.options, doubts=("c.toml:2: keys.thme is not known",))
    async with shown(app):
        told = [(one.severity, one.message) for one in app._notifications]

    assert told == [("warning", "c.toml:2: keys.thme is not known")]
