"""One look in every form."""

import csv
import io
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from cacheroute.console import cast
from cacheroute.console.columns import Column, Kind
from cacheroute.console.lines import Line
from cacheroute_cli.views import LinesView, ListView, Look, WatchView


@dataclass(frozen=True, kw_only=True)
class Row:
    id: str
    count: int | None = None
    at: datetime | None = None
    tags: list[str] = field(default_factory=list)
    ok: bool = True


KIND: Kind[Row] = Kind(
    name="things",
    noun="things",
    columns=(
        Column(key="sign", header=" ", text=lambda _: "●", value=lambda _: "●", doc="A sign."),
        cast.word("id", "ID", "A name.", gives_way=True),
        cast.count("count", "N", "A count."),
        cast.clock("at", "AT", "A moment.", wide=True),
        cast.words("tags", "TAGS", "Words.", wide=True),
        cast.yes("ok", "OK", "Whether.", wide=True),
    ),
    name_of=lambda row: row.id,
    searched=lambda row: row.id,
)
AT = datetime(2026, 1, 2, 3, 4, 5, 0, UTC)
ROWS = [Row(id="a", count=3, at=AT, tags=["x", "y"]), Row(id="b\x1b[2J", ok=False)]
LOOK = Look(width=80, color=False)


def a_view(rows: list[Row] = ROWS, **changes: Any) -> ListView[Row]:
    fields: dict[str, Any] = {
        "kind": KIND, "rows": rows, "total": len(rows), "columns": None, "headers": None,
        "content": {"proxy_url": "u"}, "footer": "f", **changes,
    }  # fmt: skip
    return ListView(**fields)


def test_a_table_has_the_usual_columns_and_wide_has_all() -> None:
    assert a_view().table(LOOK, wide=False)[0].split() == ["ID", "N"]
    assert a_view().table(LOOK, wide=True)[0].split() == ["ID", "N", "AT", "TAGS", "OK"]
    assert len(a_view(headers=False).table(LOOK, wide=False)) == 2


def test_wide_is_never_cut() -> None:
    row = Row(id="x" * 300)

    assert "x" * 300 in a_view([row]).table(LOOK, wide=True)[1]
    assert "x" * 300 not in a_view([row]).table(LOOK, wide=False)[1]


def test_plain_is_a_line_a_row_with_tabs_without_header_or_sign() -> None:
    assert a_view().plain() == ["a\t3", "b\\x1b[2J\t—"]
    assert a_view(headers=True).plain()[0] == "ID\tN"


def test_plain_has_moments_for_machines_and_no_empty_field() -> None:
    view = a_view(columns=KIND.chosen("id,at,tags"))

    assert view.plain() == ["a\t2026-01-02T03:04:05.000Z\tx y", "b\\x1b[2J\t—\t—"]


def test_plain_tells_what_the_table_tells() -> None:
    table = a_view(columns=KIND.chosen("id,count,ok")).table(LOOK, wide=False)[1:]

    assert [line.split() for line in table] == [
        line.split("\t") for line in a_view(columns=KIND.chosen("id,count,ok")).plain()
    ]


def test_csv_has_values_and_nothing_where_nobody_knows() -> None:
    lines = a_view().csv(stamp=None, headers=True)

    assert lines == [
        "id,count,at,tags,ok",
        "a,3,2026-01-02T03:04:05.000Z,x y,true",
        "b\\x1b[2J,,,,false",
    ]


def test_csv_of_a_watch_is_stamped_and_has_one_header() -> None:
    view = a_view(columns=KIND.chosen("id"))

    assert view.csv(stamp="t1", headers=True)[:2] == ["generated_at,id", "t1,a"]
    assert view.csv(stamp="t2", headers=False)[0] == "t2,a"


def test_csv_quotes_what_it_must() -> None:
    [line] = a_view([Row(id='a,"b"\n')], columns=KIND.chosen("id")).csv(stamp=None, headers=False)

    assert next(csv.reader(io.StringIO(line))) == ['a,"b"\\n']


def test_a_document_has_every_key_whatever_the_columns() -> None:
    schema, content = a_view(columns=KIND.chosen("id"), total=9).document()

    assert schema == "cacheroute.things/1"
    assert content == {"proxy_url": "u", "total": 9, "items": ROWS}


def test_a_record_is_a_row_of_its_own() -> None:
    first, _ = a_view().records()

    assert first == (
        "cacheroute.things.row/1",
        {"id": "a", "count": 3, "at": AT, "tags": ["x", "y"], "ok": True},
    )


def test_names_are_what_other_commands_take() -> None:
    assert a_view([Row(id="a"), Row(id="")]).names() == ["a"]


SUMMARY = LinesView(
    lines=[Line(label="pool", facts=("5 alive", "1 stale"))],
    schema="cacheroute.status/1",
    content={"status": 1},
    notes=["n"],
)


def test_a_summary_is_lines_and_one_document() -> None:
    assert SUMMARY.plain() == ["pool      5 alive  1 stale"]
    assert SUMMARY.table(Look(width=20, color=False), wide=False)[1].strip() == "1 stale"
    assert SUMMARY.records() == [SUMMARY.document()] == [("cacheroute.status/1", {"status": 1})]
    assert "csv" not in SUMMARY.formats
    for form in (SUMMARY.names, lambda: SUMMARY.csv(stamp=None, headers=True)):
        with pytest.raises(NotImplementedError):
            form()


def test_a_watch_is_both_in_one() -> None:
    view = WatchView(summary=SUMMARY, below=a_view(notes=["n", "m"]))
    schema, content = view.document()

    assert schema == "cacheroute.watch/1"
    assert content == {"proxy_url": "u", "total": 2, "items": ROWS, "status": 1}
    assert view.records() == [(schema, content)]
    assert view.table(LOOK, wide=False)[:2] == ["pool      5 alive  1 stale", ""]
    assert view.plain()[0].startswith("pool")
    assert (view.notes, view.footer) == (["n", "m"], "f")
    for form in (view.names, lambda: view.csv(stamp=None, headers=True)):
        with pytest.raises(NotImplementedError):
            form()
