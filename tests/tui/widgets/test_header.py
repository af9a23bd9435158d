"""The first line: whose console it is, how the connection is, and what is allowed."""

import pytest
from msgspec import structs

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


@pytest.mark.parametrize("proxy_id", ["hp_127.0.0.1:8001", "proxy-of-a-very-long-name-in-berlin"])
async def test_the_port_of_the_address_is_shown_whatever_the_proxy_is_called(proxy_id: str) -> None:
    document = drawn_fleet()
    assert document.proxy is not None
    named = structs.replace(document.proxy, proxy_id=proxy_id)
    app = console(StillFleet(structs.replace(document, proxy=named)), write=True)
    async with shown(app, NARROW):
        text = app.screen.query_one(Header).text

    assert "127.0.0.1:8002" in text
    assert f"▸local {proxy_id[:10]}" in text
    assert "● LIVE" in text
    assert "CacheRoute" not in text
    assert cells(text) == 80


async def test_in_least_room_the_address_outlasts_the_name_of_the_proxy() -> None:
    app = console()
    async with shown(app, (60, 16)):
        text = app.screen.query_one(Header).text

    assert text.startswith(" ▸local 127.0.0.1:8002 ")
