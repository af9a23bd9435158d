"""Colours by theme: one for the toolkit's own widgets, and a style for each tone of ours.

Colour is the third sign of a state, after its glyph and its word, so a theme may have none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from cacheroute.console.columns import Tone

AUTO = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The styles of one theme; they stand on the background of their widget."""

    name: str
    is_dark: bool
    tones: Mapping[Tone, Style]
    title: Style
    """Headings and the name of the program."""
    accent: Style
    """What is chosen, and keys in the footer."""
    cursor: Style
    """The row under the cursor."""
    bar: Style
    """Header and footer."""
    alarm: Style
    """The banner of a lost connection."""
    series: tuple[Style, ...]
    """Lines of a chart, and parts of a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Colors:
    """What a theme is made of, as `#rrggbb`."""

    background: str
    foreground: str
    surface: str
    bar: str
    cursor: str
    good: str
    warn: str
    bad: str
    dim: str
    accent: str
    series: tuple[str, ...]
    is_dark: bool = True


_COLORS: Mapping[str, _Colors] = {
    "dark": _Colors(
        background="#101418", foreground="#d8dee6", surface="#161b21", bar="#1e262e",
        cursor="#2a3a4a", good="#45d4b0", warn="#e8b84b", bad="#ff7b72", dim="#8b98a5",
        accent="#6cb6ff",
        series=("#6cb6ff", "#5fd38d", "#e8b84b", "#d2a8ff", "#ff9e64", "#56d4dd", "#f778ba"),
    ),
    "light": _Colors(
        background="#fbfbf9", foreground="#1c2126", surface="#f2f2ee", bar="#e6e7e2",
        cursor="#cfdcea", good="#116329", warn="#7d4e00", bad="#a3005c", dim="#58616a",
        accent="#0550ae",
        series=("#0550ae", "#116329", "#7d4e00", "#6639ba", "#953800", "#0b6e75", "#a01f68"),
        is_dark=False,
    ),
    "cb": _Colors(
        background="#101418", foreground="#e6e6e6", surface="#161b21", bar="#1e262e",
        cursor="#1f2a38", good="#56b4e9", warn="#f0e442", bad="#e68a3e", dim="#949ea8",
        accent="#cc79a7",
        series=("#56b4e9", "#e69f00", "#009e73", "#f0e442", "#cc79a7", "#d55e00", "#e6e6e6"),
    ),
    "high-contrast": _Colors(
        background="#000000", foreground="#ffffff", surface="#000000", bar="#202020",
        cursor="#404040", good="#5cff5c", warn="#ffff00", bad="#ff8f8f", dim="#d0d0d0",
        accent="#7fdfff",
        series=("#7fdfff", "#5cff5c", "#ffff00", "#ffb3ff", "#ffb000", "#ffffff", "#ff8f8f"),
    ),
}  # fmt: skip


def _palette(name: str, c: _Colors) -> Palette:
    return Palette(
        name=name,
        is_dark=c.is_dark,
        tones={
            "good": Style(color=c.good),
            "warn": Style(color=c.warn),
            "bad": Style(color=c.bad, bold=True),
            "dim": Style(color=c.dim),
            "plain": Style(),
        },
        title=Style(bold=True),
        accent=Style(color=c.accent, bold=True),
        cursor=Style(bgcolor=c.cursor, bold=True),
        bar=Style(bgcolor=c.bar),
        alarm=Style(color=c.background, bgcolor=c.bad, bold=True),
        series=tuple(Style(color=one) for one in c.series),
    )


_ANSI = Palette(
    name="ansi",
    is_dark=True,
    tones={
        "good": Style(color="green"),
        "warn": Style(color="yellow"),
        "bad": Style(color="red", bold=True),
        "dim": Style(dim=True),
        "plain": Style(),
    },
    title=Style(bold=True),
    accent=Style(color="cyan", bold=True),
    cursor=Style(reverse=True),
    bar=Style(bold=True),
    alarm=Style(color="red", bold=True, reverse=True),
    series=tuple(
        Style(color=one)
        for one in ("blue", "green", "yellow", "magenta", "cyan", "red", "bright_blue")
    ),
)
_MONO = Palette(
    name="mono",
    is_dark=True,
    tones={
        "good": Style(),
        "warn": Style(bold=True),
        "bad": Style(bold=True, underline=True),
        "dim": Style(dim=True),
        "plain": Style(),
    },
    title=Style(bold=True),
    accent=Style(bold=True),
    cursor=Style(reverse=True),
    bar=Style(bold=True),
    alarm=Style(bold=True, reverse=True),
    series=(Style(),) * 7,
)

PALETTES: Mapping[str, Palette] = {
    **{name: _palette(name, colors) for name, colors in _COLORS.items()},
    "ansi": _ANSI,
    "mono": _MONO,
}
"""By the name that `--theme` takes."""

THEMES: tuple[str, ...] = ("dark", "light", "ansi", "cb", "mono", "high-contrast")
"""In the order of the key that takes the next one; `auto` is one of the first two."""


def textual_themes() -> list[Theme]:
    """Return a theme of the toolkit for each palette."""
    return [
        *(_theme(name, colors) for name, colors in _COLORS.items()),
        _plain_theme("ansi", primary="ansi_blue", good="ansi_green", bad="ansi_red"),
        _plain_theme("mono", primary="ansi_default", good="ansi_default", bad="ansi_default"),
    ]


def _theme(name: str, c: _Colors) -> Theme:
    return Theme(
        name=name,
        primary=c.accent,
        secondary=c.dim,
        accent=c.accent,
        success=c.good,
        warning=c.warn,
        error=c.bad,
        foreground=c.foreground,
        background=c.background,
        surface=c.surface,
        panel=c.bar,
        dark=c.is_dark,
        variables={"rule": c.dim, "bar": c.bar},
    )


def _plain_theme(name: str, *, primary: str, good: str, bad: str) -> Theme:
    default = "ansi_default"
    return Theme(
        name=name,
        ansi=True,
        primary=primary,
        secondary=default,
        accent=primary,
        success=good,
        warning=default,
        error=bad,
        foreground=default,
        background=default,
        surface=default,
        panel=default,
        boost=default,
        variables={
            # The toolkit's own widgets ask for some that only its ANSI themes have.
            **BUILTIN_THEMES["ansi-dark"].variables,
            "rule": default,
            "bar": default,
            "block-cursor-foreground": default,
            "block-cursor-background": default,
            "block-cursor-text-style": "reverse",
        },
    )
