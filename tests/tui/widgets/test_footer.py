"""The last line: keys in the order of their weight, as many as have room."""

from cacheroute.console.cells import cells
from cacheroute_tui.keymap import in_footer
from cacheroute_tui.screens.base import ConsoleScreen
from cacheroute_tui.widgets.footer import Footer
from tests.tui.showing import WIDE, console, shown


async def footer_at(size: tuple[int, int], *, write: bool = False) -> tuple[str, list[str]]:
    """Return what it shows, and the labels that it would show with room for all."""
    app = console(write=write)
    async with shown(app, size):
        assert isinstance(app.screen, ConsoleScreen)
        keys = in_footer(app.screen.every_key(), may_write=write)
        return app.screen.query_one(Footer).text, [key.label for key in keys]


async def test_with_little_room_the_weightiest_keys_are_left_and_none_is_cut() -> None:
    text, labels = await footer_at((60, 24))
    wide, _ = await footer_at(WIDE)

    assert cells(text) <= 60
    assert labels[0] in text
    assert labels[-1] not in text
    assert wide.startswith(text)


async def test_keys_that_change_something_are_there_only_where_changes_are_allowed() -> None:
    _, reading = await footer_at(WIDE)
    _, writing = await footer_at(WIDE, write=True)

    assert set(reading) < set(writing)
