"""The first line: whose console it is, how the connection is, and what is allowed."""

import pytest

from cacheroute.console.cells import cells
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.header import Header, header_line, short_url
from tests.tui.fleet import StillFleet, drawn_fleet, lost
from tests.tui.showing import NARROW, WIDE, console, settle, shown


def test_an_address_is_written_without_what_is_usual() -> None:
    assert short_url("http://127.0.0.1:8002") == "127.0.0.1:8002"
    assert short_url("https://proxy.lab") == "https://proxy.lab"


@pytest.mark.parametrize(("write", "word"), [(False, " RO "), (True, " WRITE ")])
async def test_it_names_the_proxy_and_says_whether_changes_are_allowed(
    write: bool, word: str
) -> None:
    app = console(write=write)
    async with shown(app, NARROW):
        text = app.screen.query_one(Header).text

    for part in ("CacheRoute ▸local proxy-a", "● LIVE", "every 1s", word, "14:23:01"):
        assert part in text


async def test_only_a_wide_one_has_room_for_the_strategy() -> None:
    app = console()
    async with shown(app, WIDE):
        assert isinstance(app.screen, ConsoleScreen)
        narrow, wide = (
            "".join(span.text for span in header_line(app.screen, width)) for width in (80, 160)
        )

    assert (cells(narrow), cells(wide)) == (80, 160)
    assert "strategy least_load" in wide
    assert "strategy" not in narrow


@pytest.mark.parametrize(
    ("size", "held", "gone"),
    [(NARROW, "■ PAUSED", "✕ LOST"), (WIDE, "■ PAUSED ● LIVE age", "■ PAUSED ✕ LOST age")],
)
async def test_paused_it_goes_on_and_tells_of_a_loss(
    size: tuple[int, int], held: str, gone: str
) -> None:
    fleet = StillFleet(drawn_fleet())
    app = console(fleet)
    async with shown(app, size) as pilot:
        await pilot.press("p")
        await settle(pilot)
        assert held in app.screen.query_one(Header).text
        fleet.trouble = lost()
        for _ in range(3):
            await pilot.press("full_stop")
            await settle(pilot)
        assert gone in app.screen.query_one(Header).text
