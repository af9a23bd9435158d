"""Columns under headers, at any width, with any content."""

from dataclasses import dataclass, replace

from cacheroute.console.cells import cells
from cacheroute.console.columns import NAME_FLOOR, Column
from cacheroute.console.lines import Line
from cacheroute_cli.tables import cells_shown, fit, render_line, render_lines, render_table


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


def folded(*facts: str, width: int | None = 24) -> list[str]:
    return render_lines([Line(label="pool", facts=facts)], width=width, color=False)


def test_a_line_that_is_too_long_goes_on_below_between_two_facts() -> None:
    assert folded("5 alive", "1 stale", "  ttl 30 s") == [
        "pool      5 alive",
        "          1 stale",
        "          ttl 30 s",
    ]
    assert folded("5", "1 stale", "12") == ["pool      5  1 stale  12"]
    assert folded("5 alive", "1 stale", width=None) == ["pool      5 alive  1 stale"]


def test_a_fact_that_is_too_long_goes_on_between_two_words() -> None:
    assert folded("5 here", "No Instance is alive.", "x") == [
        "pool      5 here",
        "          No Instance is",
        "          alive.  x",
    ]


def test_a_sentence_behind_a_verdict_goes_on_below_itself() -> None:
    line = Line(label="proxy", facts=("ok  ", "hp_127.0.0.1:8001 at http://h:8002: all is well"))

    assert render_lines([line], width=52, color=False) == [
        "proxy     ok    hp_127.0.0.1:8001 at http://h:8002:",
        "                all is well",
    ]


def test_names_are_cut_only_when_no_other_column_can_go() -> None:
    columns = (
        replace(COLUMNS[0], floor=NAME_FLOOR),
        replace(COLUMNS[0], key="why", header="WHY"),
        replace(COLUMNS[1], rank=1),
    )
    rows = [Row("inst-" + "x" * 13, 7)]

    def at(width: int) -> str:
        return render_table(columns, rows, width=width, color=False)[1]

    assert at(41) == f"{rows[0].name}  {rows[0].name}  7"
    assert at(31) == f"{rows[0].name}  inst-xx…  7"
    assert at(30) == f"{rows[0].name}  inst-xxxx…"
    assert at(28) == f"{rows[0].name}  inst-xx…"
    assert at(26) == "inst-xxxxxxxxxx…  inst-xx…"


def test_a_word_stays_whole_so_that_it_can_be_copied() -> None:
    assert folded("log", "/y" * 20) == ["pool      log", "          " + "/y" * 20]
    assert folded("") == ["pool"]


def test_a_label_may_take_nine_cells() -> None:
    line = Line(label="knowledge", facts=("kv 5",))
    assert render_line(line, color=False) == "knowledge kv 5"


SPARE: tuple[Column[Row], ...] = (
    *COLUMNS,
    Column(
        key="queue",
        header="QUEUE",
        text=lambda row: "—" if row.count > 9 else "3",
        right=True,
        spare=True,
        doc="Who waits.",
    ),
)


def test_a_spare_column_is_shown_where_there_is_room_for_all_of_it() -> None:
    rows = [Row("abc", 1), Row("abc", 12)]
    assert render_table(SPARE, rows, width=15, color=False)[0] == "NAME   N  QUEUE"
    assert render_table(SPARE, rows, width=14, color=False)[0] == "NAME   N"
    assert render_table(SPARE, rows, width=None, color=False)[2] == "abc   12      —"


def test_a_spare_column_of_which_nobody_knows_anything_is_left_out() -> None:
    assert render_table(SPARE, [Row("a", 12)], width=None, color=False)[0] == "NAME   N"
    assert render_table(SPARE, [], width=None, color=False)[0] == "NAME  N"


RANKED: tuple[Column[Row], ...] = (
    COLUMNS[0],
    Column(key="a", header="AAAA", text=lambda _: "1", rank=2, doc="."),
    Column(key="b", header="BBBB", text=lambda _: "2", rank=1, doc="."),
)


def test_without_room_columns_go_by_rank_and_those_without_one_stay() -> None:
    rows = [Row("x" * 50, 1)]

    assert render_table(RANKED, rows, width=20, color=False)[0].split() == ["NAME", "AAAA", "BBBB"]
    assert render_table(RANKED, rows, width=19, color=False)[0].split() == ["NAME", "BBBB"]
    assert render_table(RANKED, rows, width=13, color=False)[0].split() == ["NAME"]
    assert render_table(RANKED, rows, width=3, color=False)[0].split() == ["NAME"]


def test_columns_that_were_asked_for_stay_whatever_the_room() -> None:
    rows = [Row("x" * 50, 12)]

    lines = render_table((*RANKED, SPARE[2]), rows, width=5, color=False, may_drop=False)

    assert lines[0].split() == ["NAME", "AAAA", "BBBB", "QUEUE"]


def test_a_table_without_headers_is_as_wide_as_its_values() -> None:
    assert render_table(COLUMNS, [Row("a", 7)], width=None, color=False, headers=False) == ["a  7"]


def test_a_coloured_line_is_cut_by_what_is_seen_of_it() -> None:
    line = "\x1b[32mabc\x1b[0m def"

    assert fit(line, 7) == line
    assert fit(line, 5) == "\x1b[32mabc\x1b[0m …"
    assert fit(line, 2) == "\x1b[32ma…\x1b[0m"
    assert cells_shown(fit("名名名", 5)) == 5
