"""What a screen shows, as lines of text and as a picture."""

from cacheroute_tui import frame
from tests.tui.showing import NARROW, console, shown


async def test_a_screen_is_as_many_lines_as_the_terminal_without_blanks_at_their_ends() -> None:
    app = console()
    async with shown(app, NARROW):
        lines = frame.text_of(app.screen).split("\n")

    assert len(lines) == NARROW[1]
    assert all(line == line.rstrip() and len(line) <= NARROW[0] for line in lines)
    assert any("inst-9001" in line for line in lines)


async def test_the_picture_is_an_svg_of_the_screen_on_top() -> None:
    app = console()
    async with shown(app):
        picture = frame.svg_of(app)

    assert picture.startswith("<svg")
    assert "inst-9001" in picture
