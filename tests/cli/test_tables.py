"""Columns under headers, at any width, with any content."""

from dataclasses import dataclass

from cacheroute_cli.tables import Column, Line, render_line, render_table
from cacheroute_cli.text import cells


@dataclass(frozen=True)
class Row:
    name: str
    count: int


COLUMNS: tuple[Column[Row], ...] = (
    Column(key="name", header="NAME", text=lambda row: row.name, gives_way=True, doc="A name."),
    Column(
        key="count",
        header="N",
        text=lambda row: str(row.count),
        right=True,
        tone=lambda row: "bad" if row.count > 9 else "plain",
        doc="A count.",
    ),
)


def test_text_is_left_and_numbers_are_right() -> None:
    lines = render_table(COLUMNS, [Row("a", 7), Row("bcdef", 12)], width=None, color=False)

    assert lines == ["NAME    N", "a       7", "bcdef  12"]


def test_without_rows_the_header_stands_alone() -> None:
    assert render_table(COLUMNS, [], width=80, color=False) == ["NAME  N"]


def test_a_narrow_terminal_cuts_what_may_give_way() -> None:
    lines = render_table(COLUMNS, [Row("x" * 50, 123)], width=20, color=False)

    assert lines[1] == "x" * 14 + "…  123"
    assert all(cells(line) <= 20 for line in lines)


def test_nothing_is_cut_below_what_can_still_be_read() -> None:
    lines = render_table(COLUMNS, [Row("x" * 50, 123)], width=3, color=False)

    assert lines[1] == "x" * 7 + "…  123"


def test_names_are_text_and_never_markup_or_escape_sequences() -> None:
    lines = render_table(COLUMNS, [Row("[bold]\x1b[31m", 1)], width=None, color=True)

    assert "[bold]\\x1b[31m" in lines[1]
    assert "\x1b[31m" not in lines[1]


def test_colour_repeats_what_is_said_and_changes_no_width() -> None:
    rows = [Row("a", 12)]

    plain = render_table(COLUMNS, rows, width=None, color=False)
    colored = render_table(COLUMNS, rows, width=None, color=True)

    assert colored[1] == "a     \x1b[31m12\x1b[0m"
    assert colored[1].replace("\x1b[31m", "").replace("\x1b[0m", "") == plain[1]


def test_a_labelled_line_has_its_facts_apart() -> None:
    line = Line(label="pool", facts=("5 alive", "ttl 30 s"), tone="good")

    assert render_line(line, color=False) == "pool      5 alive  ttl 30 s"
    assert "\x1b[32m5 alive\x1b[0m" in render_line(line, color=True)
