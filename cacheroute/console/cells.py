"""Text from elsewhere, made safe and measured for a terminal.

Names come over the wire, so they may hold escape sequences, line breaks or wide characters;
a terminal must show them, never obey them.
"""

import unicodedata

UNKNOWN = "—"
"""How a value that nobody knows is shown. Never 0."""

_ASCII = str.maketrans(
    {
        "●": "*", "◐": "~", "✕": "x", "■": "#", "▲": "^", "○": "o", "✔": "+", "—": "-", "–": "-",
        "…": ".", "·": "|", "×": "x", "→": ">", "≥": ">", "≤": "<", "Δ": "d", "µ": "u", "▸": ">",
    }
)  # fmt: skip
"""Our own signs, one cell for one cell, so that what is aligned stays so."""


def printable(text: str) -> str:
    """Return the text with every control or format character as a visible escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def cells(text: str) -> int:
    """Return how many terminal cells the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(c) for c in text)


def _cells_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clip(text: str, width: int) -> str:
    """Cut the text to so many cells, the last one an ellipsis when something is missing."""
    if cells(text) <= width:
        return text
    if width <= 0:
        return ""
    kept = ""
    room = width - 1
    for character in text:
        room -= _cells_of(character)
        if room < 0:
            break
        kept += character
    return kept + "…"


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill the text with blanks to so many cells; `right` puts it against the right edge."""
    blanks = " " * max(0, width - cells(text))
    return blanks + text if right else text + blanks


def ascii_only(text: str) -> str:
    """Write our signs as letters, and else a question mark for each cell: the width stays."""
    if text.isascii():
        return text
    return "".join(c if c.isascii() else "?" * _cells_of(c) for c in text.translate(_ASCII))
