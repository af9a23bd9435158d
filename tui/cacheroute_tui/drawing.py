"""How a widget finds its colours: by tone, by a name of the palette, or by a style of its own."""

from typing import Literal, Protocol, cast

from rich.style import Style
from textual.widget import Widget

from cacheroute.console.cells import ascii_only
from cacheroute.console.columns import Tone
from cacheroute_tui.themes import PALETTES, Palette

Ink = Tone | Literal["title", "accent", "cursor", "bar", "alarm"] | Style
"""What a run of text is drawn in."""

_TONES = frozenset(("good", "warn", "bad", "dim", "plain"))


class Drawn(Protocol):
    """What the app tells widgets about drawing."""

    palette: Palette
    is_ascii: bool


def palette_of(widget: Widget) -> Palette:
    """Return the palette in force; the dark one under an app that has none."""
    return getattr(widget.app, "palette", PALETTES["dark"])


def as_ascii(widget: Widget) -> bool:
    """Return whether the terminal shows ASCII only."""
    return bool(getattr(widget.app, "is_ascii", False))


def to_ascii(text: str) -> str:
    """Write our own signs as letters, also those that only screens have."""
    return text if text.isascii() else ascii_only(text.translate(_ASCII))


_ASCII = str.maketrans(
    {
        "▸": ">", "▼": "v", "▲": "^", "↑": "^", "↓": "v", "←": "<", "⏎": "+", "⌫": "<", "°": " ",
        "━": "-", "┅": "=", "┈": ".", "╌": ":", "┤": "|", "└": "+", "─": "-", "│": "|", "▏": "|",
    }
)  # fmt: skip
"""One cell for one cell."""


def style_of(widget: Widget, ink: Ink) -> Style:
    """Return the style, to stand on the widget's own."""
    if isinstance(ink, Style):
        return ink
    palette = palette_of(widget)
    if ink in _TONES:
        return palette.tones[cast("Tone", ink)]
    return cast("Style", getattr(palette, ink))
