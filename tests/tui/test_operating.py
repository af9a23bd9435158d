"""What the console does: it copies, it runs commands, and it changes what it may change."""

import json
from pathlib import Path

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Input, Static

from cacheroute_tui.screens.command_output import CommandOutput
from cacheroute_tui.widgets.command_line import CommandLine
from cacheroute_tui.widgets.confirm import Confirm
from tests.cli.live_proxy import live_proxy
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import Operated, at, until
from tests.tui.showing import NORMAL, settle, shown, text_of


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def typed(pilot: Pilot[int], line: str) -> None:
    """Type a command and run it."""
    await pilot.press("colon")
    pilot.app.screen.query_one(CommandLine).query_one(Input).value = line
    await pilot.press("enter")
    await settle(pilot)


# -- copying ---------------------------------------------------------------------------------


async def test_y_copies_the_name_under_the_cursor(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("y")
        await until(pilot, lambda: operated.said)

        assert operated.clipboard.texts == ["inst-9001"]
        assert operated.said == ["copied 9 B by OSC 52"]


async def test_y_copies_all_names_that_are_marked_one_a_line(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        for one in ("inst-9004", "inst-9001"):
            await at(pilot, one)
            await pilot.press("space")
        await at(pilot, "inst-9008")
        await pilot.press("y")
        await until(pilot, lambda: operated.said)
        assert operated.clipboard.texts == ["inst-9001\ninst-9004"]

        await pilot.press("Y")
        await until(pilot, lambda: len(operated.said) > 1)
        documents = json.loads(operated.clipboard.texts[1])
        assert [one["id"] for one in documents] == ["inst-9001", "inst-9004"]
        assert documents[0]["score"] == 4.9


async def test_capital_y_copies_all_that_is_known_of_it(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("Y")
        await until(pilot, lambda: operated.said)

        [text] = operated.clipboard.texts
        document = json.loads(text)
        assert document["id"] == "inst-9001"
        assert document["score"] == 4.9


async def test_brackets_and_wide_letters_in_a_name_are_copied_and_shown_as_they_are(
    tmp_path: Path,
) -> None:
    document = drawn_fleet()
    names = ["[b]一二三[/b]", *document.ids[1:]]
    assert document.identities is not None
    identities = structs.replace(document.identities, ids=names)
    operated = Operated(tmp_path, StillFleet(structs.replace(document, identities=identities)))
    async with shown(operated.app, NORMAL) as pilot:
        assert "[b]一二三[/b]" in text_of(operated.app)
        await at(pilot, "[b]一二三[/b]")
        await pilot.press("y")
        await until(pilot, lambda: operated.said)

        assert operated.clipboard.texts == ["[b]一二三[/b]"]


async def test_where_nothing_is_selected_nothing_is_copied(tmp_path: Path) -> None:
    operated = Operated(tmp_path, screen="topology")
    async with shown(operated.app) as pilot:
        await pilot.press("y")
        await settle(pilot)

        assert operated.said == ["nothing is selected"]


async def test_a_picture_of_the_screen_is_kept(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await pilot.press("S")

        [picture] = (tmp_path / "state" / "pictures").glob("*.svg")
        assert str(picture) in operated.said[0]
        assert "inst-9001" in picture.read_text()


# -- the line --------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["drain inst-9001 -y", ":drain inst-9001 -y --write", "down"])
async def test_without_write_the_line_refuses_a_change(line: str, tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await typed(pilot, line)
        await until(pilot, lambda: operated.said)

        assert operated.said[0].startswith("read-only: ")
        assert not isinstance(operated.app.screen, CommandOutput)


async def test_a_change_on_the_line_is_confirmed_and_made_at_a_real_proxy(tmp_path: Path) -> None:
    with live_proxy() as proxy:
        proxy.register("one", "two", "three")
        operated = Operated(tmp_path, write=True)
        operated.app.target = type(operated.app.target)(proxy_url=proxy.url)
        async with shown(operated.app) as pilot:
            await typed(pilot, "drain one two")
            await until(pilot, lambda: isinstance(operated.app.screen, Confirm))
            assert isinstance(operated.app.screen, Confirm)
            assert "drain one, two: no request runs there" in operated.app.screen.text
            assert proxy.routable() == {"one", "two", "three"}

            operated.app.screen.query_one(Input).value = "2"
            await pilot.press("enter")
            await until(pilot, lambda: proxy.routable() == {"three"})


async def test_the_line_runs_what_a_shell_would(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await typed(pilot, "explain backlog_ms")
        output = operated.app.screen
        assert isinstance(output, CommandOutput)
        await until(pilot, lambda: output.ended)

        assert output.ended is not None
        assert output.ended.exit == 0
        assert "backlog" in output.text
        assert "exit 0" in text_of(operated.app)
        await pilot.press("y")
        await until(pilot, lambda: operated.clipboard.texts)
        await pilot.press("escape")
        await settle(pilot)
        assert operated.app.screen is operated.app.front


async def test_the_name_of_a_screen_goes_there(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await typed(pilot, ":scores")

        assert operated.app.current_mode == "scores"


async def test_watch_sets_the_interval(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await typed(pilot, "watch -i 0.1")

        assert operated.app.feed.interval_s == 0.5


@pytest.mark.parametrize("line", ["quit", ":exit", "q"])
async def test_the_line_leaves(line: str, tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await typed(pilot, line)

    assert operated.app.return_code == 0


async def test_letters_go_into_the_line_while_it_has_the_focus(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await pilot.press("colon", "q", "p", "d", "1", "question_mark")

        line = operated.app.screen.query_one(CommandLine)
        assert line.field.value == "qpd1?"
        assert operated.app.is_paused is False
        await pilot.press("escape")
        assert not line.display
        assert operated.app.is_running


async def test_tab_completes_from_commands_and_from_the_screen(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        line = operated.app.screen.query_one(CommandLine)
        await pilot.press("colon", *"expl")
        await pilot.press("tab")
        await until(pilot, lambda: line.field.value == "explain ")
        line.open("show inst-900")
        await pilot.press("tab")
        await until(
            pilot, lambda: "inst-9004" in str(line.query_one(".command-told", Static).visual)
        )


async def test_arrows_go_through_what_was_typed_before(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    for each in ("status", "show inst-1", "scores"):
        operated.app.command_history.add(each)
    async with shown(operated.app) as pilot:
        line = operated.app.screen.query_one(CommandLine)
        await pilot.press("colon", "s", "up", "up")
        assert line.field.value == "show inst-1"
        await pilot.press("down", "down")
        assert line.field.value == "s"


async def test_what_may_follow_is_shown_in_grey(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    operated.app.command_history.add("show inst-9001 --raw")
    async with shown(operated.app) as pilot:
        await pilot.press("colon", *"sho")
        await until(pilot, lambda: "show inst-9001 --raw" in text_of(operated.app))


async def test_a_line_that_is_not_understood_is_said(tmp_path: Path) -> None:
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await typed(pilot, "show 'inst")

        assert operated.said == ["no closing quotation"]
