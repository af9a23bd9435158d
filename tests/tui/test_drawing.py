"""Colours by name, and our own signs where the terminal has letters only."""

from rich.style import Style
from textual.app import App
from textual.widget import Widget

from cacheroute.console.cells import cells
from cacheroute_tui.drawing import as_ascii, palette_of, style_of, to_ascii
from cacheroute_tui.themes import PALETTES
from tests.tui.showing import console, shown


def test_each_of_our_signs_becomes_one_letter() -> None:
    signs = "▸▼▲↑↓←⏎⌫°━┅┈╌┤└─│▏●○✕"

    assert to_ascii(signs).isascii()
    assert len(to_ascii(signs)) == cells(signs)
    assert to_ascii("a plain text") == "a plain text"


async def test_an_ink_is_a_tone_a_name_of_the_palette_or_a_style_of_its_own() -> None:
    app = console(theme="light", ascii=True)
    async with shown(app):
        palette = PALETTES["light"]

        assert palette_of(app.screen) is palette
        assert style_of(app.screen, "bad") == palette.tones["bad"]
        assert style_of(app.screen, "title") == palette.title
        assert style_of(app.screen, Style(bold=True)) == Style(bold=True)
        assert as_ascii(app.screen)


async def test_an_app_without_a_palette_is_drawn_in_the_dark_one() -> None:
    app: App[None] = App()
    async with app.run_test():
        widget: Widget = app.screen

        assert palette_of(widget) is PALETTES["dark"]
        assert not as_ascii(widget)
