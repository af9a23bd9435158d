"""Themes: everything can be read in each, and no state is told by its colour alone."""

from itertools import combinations
from math import hypot

import pytest
from rich.color import Color
from rich.style import Style

from cacheroute.console.rows.states import SIGNS
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.drawing import to_ascii
from cacheroute_tui.themes import _COLORS, PALETTES, THEMES, textual_themes
from cacheroute_tui.widgets.header import SIGNS as PHASE_SIGNS
from tests.tui.showing import console, settle, shown, text_of

_READABLE = 4.5
_APART = 20.0

Rgb = tuple[float, float, float]


def rgb(text: str) -> Rgb:
    triplet = Color.parse(text).get_truecolor()
    return triplet.red / 255, triplet.green / 255, triplet.blue / 255


def linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def luminance(color: Rgb) -> float:
    """Relative luminance by WCAG 2."""
    red, green, blue = map(linear, color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(rgb(one)), luminance(rgb(other))), reverse=True)
    return (high + 0.05) / (low + 0.05)


def seen_without_green(color: Rgb) -> Rgb:
    """Deuteranopia, by the matrix of Machado, Oliveira and Fernandes (2009), severity 1."""
    red, green, blue = map(linear, color)
    return (
        0.367322 * red + 0.860646 * green - 0.227968 * blue,
        0.280085 * red + 0.672501 * green + 0.047413 * blue,
        -0.011820 * red + 0.042940 * green + 0.968881 * blue,
    )


def lab(linear_rgb: Rgb) -> Rgb:
    """CIE L*a*b* under D65."""
    red, green, blue = linear_rgb

    def f(t: float) -> float:
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    x = f((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = f(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = f((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one: str, other: str) -> float:
    """Difference of two colours as a deuteranope sees them, by CIE76."""
    a, b = (lab(seen_without_green(rgb(color))) for color in (one, other))
    return hypot(*(p - q for p, q in zip(a, b, strict=True)))


@pytest.mark.parametrize("name", _COLORS)
def test_every_text_can_be_read_on_every_ground_it_stands_on(name: str) -> None:
    colors = _COLORS[name]
    for ground in (colors.background, colors.surface, colors.bar, colors.cursor):
        for ink in ("foreground", "good", "warn", "bad", "accent", "dim"):
            found = contrast(getattr(colors, ink), ground)
            least = 3.0 if (ink == "dim" and ground == colors.cursor) else _READABLE
            assert found >= least, f"{ink} on {ground}: {found:.1f}"


@pytest.mark.parametrize("name", _COLORS)
def test_the_banner_can_be_read(name: str) -> None:
    colors = _COLORS[name]

    assert contrast(colors.background, colors.bad) >= _READABLE


@pytest.mark.parametrize("name", _COLORS)
def test_the_states_are_apart_for_who_does_not_see_green(name: str) -> None:
    colors = _COLORS[name]

    for one, other in combinations((colors.good, colors.warn, colors.bad), 2):
        assert distance(one, other) > _APART, (one, other, distance(one, other))


def test_no_two_states_share_a_glyph_nor_its_ascii() -> None:
    for signs in (list(SIGNS.values()), [sign for sign, _, _ in PHASE_SIGNS.values()]):
        distinct = set(signs)
        assert len({to_ascii(sign) for sign in distinct}) == len(distinct)
    assert len(set(SIGNS.values())) == len(SIGNS)
    assert len({word for _, word, _ in PHASE_SIGNS.values()}) == len(PHASE_SIGNS)


def test_mono_has_no_colour_at_all() -> None:
    palette = PALETTES["mono"]
    styles = [*palette.tones.values(), *palette.series, palette.accent, palette.cursor]

    assert all(style.color is None and style.bgcolor is None for style in styles)


def test_ansi_takes_only_the_colours_that_the_terminal_has() -> None:
    palette = PALETTES["ansi"]
    for style in (*palette.tones.values(), *palette.series):
        assert isinstance(style, Style)
        number = None if style.color is None else style.color.number
        assert style.color is None or (number is not None and number < 16)


def test_every_name_has_a_palette_and_a_theme_of_the_toolkit() -> None:
    assert set(THEMES) == set(PALETTES) == {theme.name for theme in textual_themes()}


@pytest.mark.parametrize("name", THEMES)
async def test_a_screen_says_the_same_in_every_theme(name: str) -> None:
    usual = console(screen="instances")
    async with shown(usual):
        text = text_of(usual)
    app: ConsoleApp = console(screen="instances", theme=name)
    async with shown(app) as pilot:
        await settle(pilot)

        assert text_of(app) == text
