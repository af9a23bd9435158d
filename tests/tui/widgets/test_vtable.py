"""The table: only what is seen is drawn, the cursor stays with its row, and nothing jumps."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip

from cacheroute.console.columns import Column, Kind
from cacheroute.console.filters import read_filter
from cacheroute.console.sorting import Order
from cacheroute_tui.widgets.table_rows import FROZEN_S
from cacheroute_tui.widgets.vtable import VTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    id: str
    load: int | None = None


COLUMNS: tuple[Column[Row], ...] = (
    Column(key="sign", header=" ", text=lambda _: "●", value=lambda _: 0, doc="", width=1),
    Column(key="id", header="ID", text=lambda row: row.id, doc="", gives_way=True),
    Column(
        key="load", header="LOAD", text=lambda row: str(row.load), doc="", right=True, width=5,
        tone=lambda row: "bad" if row.load and row.load > 90 else "plain",
    ),
)  # fmt: skip
KIND = Kind(
    name="rows", noun="rows", columns=COLUMNS, name_of=lambda r: r.id, searched=lambda r: r.id
)
BY_LOAD = (Order(column=COLUMNS[2]),)


class Bench(App[None]):
    """Nothing but a table."""

    def __init__(self, *, takes_marks: bool = False) -> None:
        super().__init__()
        self.takes_marks = takes_marks
        self.at_s = 0.0
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        yield VTable(
            COLUMNS, id_of=lambda row: row.id, now=lambda: self.at_s,
            takes_marks=self.takes_marks, id="rows",
        )  # fmt: skip

    @property
    def table(self) -> VTable[Row]:
        found: VTable[Row] = self.query_one("#rows", VTable)
        return found

    def on_vtable_opened(self, message: VTable.Opened) -> None:
        self.heard.append(("opened", message.row_id))

    def on_vtable_cursor_moved(self, message: VTable.CursorMoved) -> None:
        self.heard.append(("moved", message.row_id))

    def on_vtable_marks_changed(self, message: VTable.MarksChanged) -> None:
        self.heard.append(("marks", message.table.mark_counts))

    def on_vtable_order_chosen(self, message: VTable.OrderChosen) -> None:
        self.heard.append(("order", message.order[0].column.key, message.order[0].descending))
        self.table.sort(message.order)

    def lines(self) -> list[str]:
        height = self.table.size.height
        return [self.table.render_line(y).text.rstrip() for y in range(height)]


@asynccontextmanager
async def table_of(
    rows: Sequence[Row], size: tuple[int, int] = (40, 8), *, takes_marks: bool = False
) -> AsyncIterator[tuple[Bench, Pilot[None]]]:
    app = Bench(takes_marks=takes_marks)
    async with app.run_test(size=size) as pilot:
        app.table.focus()
        app.table.show_rows(rows)
        await pilot.pause()
        yield app, pilot


def rows(count: int, *, load: int = 0) -> list[Row]:
    return [Row(id=f"i-{n}", load=load + n) for n in range(count)]


async def test_rows_stand_under_their_headers_with_a_cursor() -> None:
    async with table_of(rows(2)) as (app, _):
        assert app.lines()[:4] == [
            "    ID   LOAD",
            "> ● i-0     0",
            "  ● i-1     1",
            "",
        ]


async def test_of_a_hundred_thousand_rows_only_those_seen_are_written() -> None:
    written: set[str] = set()

    def text(row: Row) -> str:
        written.add(row.id)
        return row.id

    spied: tuple[Column[Row], ...] = (Column(key="id", header="ID", text=text, doc="", width=8),)
    async with table_of(()) as (app, pilot):
        app.table.take_columns(spied)
        app.table.show_rows(rows(100_000))
        await pilot.pause()

    assert 0 < len(written) <= 8


async def test_the_cursor_stays_with_its_row_when_the_order_changes() -> None:
    async with table_of(rows(3)) as (app, pilot):
        await pilot.press("down")
        assert app.table.cursor_id == "i-1"
        app.at_s = FROZEN_S + 1
        app.table.sort(BY_LOAD)
        app.table.show_rows([Row(id="i-1", load=9), Row(id="i-0", load=5), Row(id="i-2", load=1)])

        assert [row.id for row in app.table.rows] == ["i-2", "i-0", "i-1"]
        assert app.table.cursor_id == "i-1"
        assert app.lines()[3].startswith(">")


async def test_rows_do_not_jump_for_two_seconds_after_a_key() -> None:
    async with table_of(rows(3)) as (app, pilot):
        app.table.sort(BY_LOAD)
        await pilot.press("down")
        turned = [Row(id="i-0", load=9), Row(id="i-1", load=5), Row(id="i-2", load=1)]
        app.table.show_rows(turned)
        assert [row.id for row in app.table.rows] == ["i-0", "i-1", "i-2"]
        assert "9" in app.lines()[1], "the figures are new all the same"

        app.at_s = FROZEN_S + 0.1
        app.table.show_rows(turned)
        assert [row.id for row in app.table.rows] == ["i-2", "i-1", "i-0"]


async def test_a_new_row_comes_last_while_the_order_is_held() -> None:
    async with table_of(rows(2)) as (app, pilot):
        app.table.sort(BY_LOAD)
        await pilot.press("down")
        app.table.show_rows([Row(id="new", load=-1), *rows(2)])

        assert [row.id for row in app.table.rows] == ["i-0", "i-1", "new"]


async def test_when_its_row_goes_the_cursor_stays_at_its_place() -> None:
    async with table_of(rows(3)) as (app, pilot):
        await pilot.press("down")
        app.table.show_rows([row for row in rows(3) if row.id != "i-1"])
        await pilot.pause()
        assert app.table.cursor_id == "i-2"
        app.table.show_rows(())
        await pilot.pause()
        assert app.table.cursor_id is None
        assert app.table.cursor_row is None
        assert app.heard[-1] == ("moved", None)
        assert app.lines()[1] == "  no rows"


async def test_keys_move_by_rows_pages_and_to_both_ends() -> None:
    async with table_of(rows(100)) as (app, pilot):
        for key, place in (
            ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("pagedown", 7), ("pageup", 0),
            ("G", 99), ("g", 0), ("end", 99), ("home", 0),
        ):  # fmt: skip
            await pilot.press(key)
            assert app.table.cursor_id == f"i-{place}", key
            # Wherever it went, it can be seen.
            assert any(line.startswith(">") for line in app.lines()), key


async def test_left_and_right_choose_a_column() -> None:
    async with table_of(rows(2)) as (app, pilot):
        for key, chosen in (("right", "id"), ("l", "load"), ("l", "load"), ("h", "id")):
            await pilot.press(key)
            assert app.table.column_under_cursor is not None
            assert app.table.column_under_cursor.key == chosen


async def test_wide_scrolls_columns_and_keeps_the_first_two() -> None:
    many = (*COLUMNS[:2], *(
        Column(key=f"c{n}", header=f"C{n}", text=lambda _: "x", value=lambda _: 0, doc="",
               width=6)
        for n in range(10)
    ))  # fmt: skip
    async with table_of(rows(2)) as (app, pilot):
        app.table.take_columns(many)
        app.table.widen(True)
        assert "C0" in app.lines()[0]
        assert "C9" not in app.lines()[0]
        await pilot.press(*["l"] * 16)

        assert "C9" in app.lines()[0]
        assert "C0" not in app.lines()[0]
        assert "i-0" in app.lines()[1]
        await pilot.press(*["h"] * 16)
        assert "C0" in app.lines()[0]


async def test_a_click_on_a_header_sorts_and_again_turns_it_round() -> None:
    async with table_of(rows(2)) as (app, pilot):
        await pilot.click("#rows", offset=(10, 0))
        await pilot.pause()
        await pilot.click("#rows", offset=(10, 0))
        await pilot.pause()

        orders = [one for one in app.heard if isinstance(one, tuple) and one[0] == "order"]
        assert orders == [("order", "load", False), ("order", "load", True)]
        assert "LOAD" in app.lines()[0] or "LOAD▼" in app.lines()[0]


async def test_a_click_goes_to_a_row_and_a_double_click_opens_it() -> None:
    async with table_of(rows(3)) as (app, pilot):
        await pilot.click("#rows", offset=(5, 3))
        assert app.table.cursor_id == "i-2"
        await pilot.click("#rows", offset=(5, 2), times=2)
        await pilot.pause()

        assert ("opened", "i-1") in app.heard


async def test_a_filter_and_a_test_narrow_the_rows() -> None:
    async with table_of(rows(30)) as (app, _):
        app.table.narrow(read_filter("load>20", KIND), accepts=lambda row: row.id != "i-25")

        assert [row.id for row in app.table.rows] == [f"i-{n}" for n in range(21, 30) if n != 25]


async def test_only_lines_that_changed_are_drawn_again() -> None:
    async with table_of(rows(5)) as (app, pilot):
        drawn: list[int] = []
        draw = app.table.render_line

        def noted(y: int) -> Strip:
            drawn.append(y)
            return draw(y)

        app.table.render_line = noted  # type: ignore[method-assign]
        changed = rows(5)
        changed[2] = Row(id="i-2", load=77)
        app.table.show_rows(changed)
        await pilot.pause()

        assert set(drawn) == {3}


async def test_hostile_and_wide_names_keep_to_their_cells() -> None:
    names = ["a\x1b[31mred", "line\nbreak", "漢字の名前", "[bold]b[/bold]", "e\u0301\u202ex"]
    async with table_of([Row(id=name, load=1) for name in names]) as (app, _):
        lines = [app.table.render_line(y) for y in range(6)]

        assert all(strip.cell_length == 40 for strip in lines)
        assert "\\x1b[31mred" in lines[1].text
        assert "[bold]b[/bold]" in lines[4].text
        assert "\u202e" not in lines[5].text


async def test_a_resize_lays_the_columns_out_anew() -> None:
    async with table_of(rows(2)) as (app, pilot):
        await pilot.resize_terminal(16, 5)
        await pilot.pause()

        assert app.lines()[1].startswith("> ● i-0")
        assert len(app.lines()) == 5


async def test_stale_rows_have_no_colours_of_their_own() -> None:
    async with table_of([Row(id="x", load=99)]) as (app, _):
        assert len(list(app.table.render_line(1))) > 2
        app.table.show_rows([Row(id="x", load=99)], is_stale=True)

        styles = {segment.style for segment in app.table.render_line(1) if segment.text.strip()}
        assert len(styles) == 1


async def test_until_a_row_is_chosen_the_cursor_is_on_the_first_whichever_that_is() -> None:
    async with table_of(rows(3)) as (app, pilot):
        app.table.show_rows(list(reversed(rows(3))))
        assert app.table.cursor_id == "i-2"
        await pilot.press("down")
        app.table.show_rows(rows(3))
        assert app.table.cursor_id == "i-1"


def marks(app: Bench) -> list[str]:
    return [row.id for row in app.table.marked_rows]


async def test_a_marked_row_has_a_plus_before_it_and_the_table_tells() -> None:
    async with table_of(rows(3), takes_marks=True) as (app, pilot):
        app.table.toggle_mark()
        await pilot.press("down")
        app.table.toggle_mark()
        await pilot.pause()

        assert app.lines()[:4] == [
            "    ID   LOAD",
            " +● i-0     0",
            ">+● i-1     1",
            "  ● i-2     2",
        ]
        assert app.heard[-1] == ("marks", (2, 0))
        app.table.clear_marks()
        await pilot.pause()
        assert app.heard[-1] == ("marks", (0, 0))
        assert app.lines()[1] == "  ● i-0     0"


async def test_a_click_in_front_of_a_row_marks_it_and_opens_nothing() -> None:
    async with table_of(rows(3), takes_marks=True) as (app, pilot):
        await pilot.click("#rows", offset=(1, 2))
        assert (marks(app), app.table.cursor_id) == (["i-1"], "i-1")
        await pilot.click("#rows", offset=(0, 2))
        await pilot.click("#rows", offset=(5, 3))
        await pilot.pause()

        assert marks(app) == []
        assert not [one for one in app.heard if isinstance(one, tuple) and one[0] == "opened"]


async def test_a_table_that_takes_no_marks_has_none() -> None:
    async with table_of(rows(2)) as (app, pilot):
        app.table.toggle_mark()
        await pilot.click("#rows", offset=(0, 1))

        assert app.table.mark_counts == (0, 0)


async def test_marks_of_rows_that_are_gone_are_told() -> None:
    async with table_of(rows(3), takes_marks=True) as (app, pilot):
        app.table.toggle_mark()
        app.table.narrow(read_filter("i-2", KIND))
        assert app.table.mark_counts == (1, 1)
        app.table.show_rows(rows(3)[1:])
        await pilot.pause()

        assert app.heard[-1] == ("marks", (0, 0))


async def test_a_mark_draws_one_line_and_of_a_thousand_only_those_seen_are_written() -> None:
    written: list[str] = []

    def text(row: Row) -> str:
        written.append(row.id)
        return row.id

    spied: tuple[Column[Row], ...] = (Column(key="id", header="ID", text=text, doc="", width=8),)
    async with table_of((), takes_marks=True) as (app, pilot):
        app.table.take_columns(spied)
        app.table.show_rows(rows(1_000))
        await pilot.pause()
        for place in range(1_000):
            app.table.move_to(place)
            app.table.toggle_mark()
        assert app.table.mark_counts == (1_000, 0)
        app.table.move_to(0)
        await pilot.pause()

        written.clear()
        app.table.toggle_mark()
        await pilot.pause()
        assert set(written) <= {"i-0"}
        assert app.lines()[1].startswith("> i-0")

        written.clear()
        app.table.show_rows(rows(1_000, load=1))
        await pilot.pause()
        assert len(written) <= 8


async def test_rows_are_read_anew_unless_they_are_told_to_be_the_same() -> None:
    told = object()
    async with table_of(rows(3)) as (app, pilot):
        app.table.show_rows(rows(3), told=told)
        app.table.show_rows(rows(3, load=40), told=told)
        await pilot.pause()
        assert "i-0" in app.lines()[1]
        assert "40" not in app.lines()[1]
        app.table.show_rows(rows(3, load=40), told=object())
        await pilot.pause()
        assert "40" in app.lines()[1]
        app.table.show_rows(rows(3, load=50))
        await pilot.pause()
        assert "50" in app.lines()[1]
