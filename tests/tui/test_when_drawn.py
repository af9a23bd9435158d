"""When a look is drawn: on the screen that is seen, while the console runs."""

import asyncio
import itertools

import pytest

from cacheroute_tui.app import SnapshotReady
from tests.tui.showing import console, settle, shown


async def test_hidden_screens_do_not_draw() -> None:
    app = console(screen="instances")
    async with shown(app) as pilot:
        hidden = app.front
        assert hidden is not None
        await pilot.press("1")
        await settle(pilot)
        drawn = hidden._drawn_rev
        await app.feed.look()
        await settle(pilot)
        assert hidden._drawn_rev == drawn
        await pilot.press("2")
        await settle(pilot)
        assert hidden._drawn_rev > drawn


async def test_a_look_that_comes_while_the_console_ends_is_not_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The screens are taken apart then, widget by widget, and more slowly on a busy machine.
    drawn: list[bool] = []
    app = console()

    async def looks_without_end() -> None:
        for rev in itertools.count():
            app.post_message(SnapshotReady(rev))
            await asyncio.sleep(0)

    async with shown(app):
        assert app.front is not None
        monkeypatch.setattr(app.front, "refresh_data", lambda: drawn.append(app.is_running))
        looking = asyncio.create_task(looks_without_end())  # noqa: TID251 - held here
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    looking.cancel()
    assert drawn
    assert all(drawn)
