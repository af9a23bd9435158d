"""Text from elsewhere, made safe and measured for a terminal.

Names come over the wire, so they may hold escape sequences, line breaks or wide characters;
a terminal must show them, never obey them.
"""

import unicodedata
from functools import lru_cache

UNKNOWN = "—"
"""How a list shows that there is no value. Never 0."""
UNTOLD = "?"
"""How a screen shows a value that nobody knows; there, a dash says that there is none to know."""

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


@lru_cache(maxsize=4_096)
def _cells_of(character: str) -> int:
    if character == _EMOJI_STYLE:
        return 1
    if unicodedata.category(character) in _MARKS or character in _JOINED_JAMO:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


_MARKS = frozenset({"Mn", "Me", "Mc"})
"""Categories of what is drawn on the character before; not all of it is said to combine."""
_JOINED_JAMO = frozenset(map(chr, range(0x1160, 0x1200)))
"""Vowels and final consonants that are drawn into the syllable before."""
_EMOJI_STYLE = "\ufe0f"
"""A mark that makes the sign before it as wide as a picture."""


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
