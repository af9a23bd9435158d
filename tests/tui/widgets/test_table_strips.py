"""Lines of a table: as wide as asked for, a run for each style, and no colours on stale rows."""

import pytest
from rich.style import Style

from cacheroute.console.columns import Column
from cacheroute.console.sorting import Order
from cacheroute_tui.themes import PALETTES
from cacheroute_tui.widgets.column_layout import Placed
from cacheroute_tui.widgets.table_strips import (
    Cells,
    Ground,
    header_strip,
    row_strip,
    text_strip,
)

NAME: Column[str] = Column(key="name", header="NAME", text=lambda row: row, doc="")
STATE: Column[str] = Column(
    key="state", header="STATE", text=lambda _: "● up", doc="", tone=lambda _: "good"
)
SIZE: Column[str] = Column(
    key="size", header="SIZE", text=lambda row: str(len(row)), doc="", right=True
)
PLACED = [Placed(column=NAME, width=6), Placed(column=STATE, width=6), Placed(column=SIZE, width=5)]
DARK = PALETTES["dark"]


def ground(width: int = 24, *, is_ascii: bool = False) -> Ground:
    return Ground(base=Style(), palette=DARK, width=width, is_ascii=is_ascii)


@pytest.mark.parametrize(("descending", "arrow"), [(True, "▼"), (False, "▲")])
def test_the_column_that_is_sorted_by_has_an_arrow(descending: bool, arrow: str) -> None:
    order = Order(column=SIZE, descending=descending)

    strip = header_strip(PLACED, ground(), order=order, under=NAME)

    assert strip.text == f"  NAME   STATE  SIZE{arrow}".ljust(24)
    lined = [part.text for part in strip if part.style is not None and part.style.underline]
    assert lined == ["NAME  "]


@pytest.mark.parametrize("width", [8, 20, 21, 24])
def test_a_row_is_cut_and_filled_to_the_width(width: int) -> None:
    strip = row_strip("a\x1b", PLACED, ground(width), is_cursor=True, is_stale=False)

    assert strip.cell_length == width
    assert strip.text == "> a\\x1b  ● up       2".ljust(24)[:width]


def test_a_stale_row_has_no_colours_of_its_own() -> None:
    fresh = row_strip("a", PLACED, ground(), is_cursor=False, is_stale=False)
    stale = row_strip("a", PLACED, ground(), is_cursor=False, is_stale=True)

    assert fresh.text == stale.text
    assert DARK.tones["good"] in {part.style for part in fresh}
    assert {part.style for part in stale} == {DARK.tones["dim"]}


@pytest.mark.parametrize("theme", ["dark", "mono"])
@pytest.mark.parametrize("is_ascii", [False, True])
@pytest.mark.parametrize("is_stale", [False, True])
def test_a_marked_row_is_told_by_a_sign_whatever_the_colours_are(
    theme: str, is_ascii: bool, is_stale: bool
) -> None:
    on = Ground(base=Style(), palette=PALETTES[theme], width=24, is_ascii=is_ascii)
    plain, marked = (
        row_strip("a", PLACED, on, is_cursor=True, is_stale=is_stale, is_marked=one)
        for one in (False, True)
    )

    assert plain.text[:3] == "> a"
    assert marked.text == ">+" + plain.text[2:]
    assert marked.cell_length == plain.cell_length


def test_the_words_of_a_marked_row_have_a_colour_and_states_keep_theirs() -> None:
    strip = row_strip("a", PLACED, ground(), is_cursor=False, is_stale=False, is_marked=True)

    colours = {part.text.strip(): part.style.color for part in strip if part.style is not None}
    assert colours["+a"] == DARK.accent.color
    assert colours["● up"] == DARK.tones["good"].color


def test_an_ascii_terminal_gets_ascii_cell_for_cell() -> None:
    row = row_strip("a", PLACED, ground(is_ascii=True), is_cursor=False, is_stale=False)
    text = text_strip(" no rows — yet", ground(is_ascii=True))

    assert row.text.isascii()
    assert row.cell_length == 24
    assert text.text == " no rows - yet".ljust(24)


def test_of_what_is_known_only_ages_are_read_again() -> None:
    age: Column[str] = Column(key="age", header="AGE", text=lambda row: row[-1], doc="", ages=True)
    cells_known: Cells = {}
    placed = [Placed(column=NAME, width=6), Placed(column=age, width=3)]

    row_strip("a1", placed, ground(), is_cursor=False, is_stale=False, known=cells_known)
    again = row_strip("b2", placed, ground(), is_cursor=False, is_stale=False, known=cells_known)

    assert again.text.split() == ["a1", "2"]
    assert set(cells_known) == {"name"}
