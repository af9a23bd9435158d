"""One look at something, in every form it can be printed in.

A view holds values and no connection: a table and a JSON line of it tell the same moment.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from cacheroute.console.amounts import render_instant
from cacheroute.console.cells import UNKNOWN, printable
from cacheroute.console.columns import Column, Kind
from cacheroute.console.lines import Line
from cacheroute_cli.context import Format
from cacheroute_cli.output import json_text, shallow
from cacheroute_cli.tables import render_lines, render_table

R = TypeVar("R")

Document = tuple[str, Mapping[str, object]]
"""The name of a schema, and what stands in the document."""

LISTS: frozenset[Format] = frozenset(("table", "plain", "wide", "json", "jsonl", "csv", "name"))
DOCUMENTS: frozenset[Format] = frozenset(("table", "plain", "wide", "json", "jsonl"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the reader's terminal is like."""

    width: int | None
    color: bool


class View(Protocol):
    """What can be printed and watched."""

    @property
    def formats(self) -> frozenset[Format]:
        """The formats it has."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What is worth knowing beside the data."""
        ...

    @property
    def footer(self) -> str:
        """A line for people below the data; may be empty."""
        ...

    def table(self, look: Look, *, wide: bool) -> list[str]:
        """Write it for people."""
        ...

    def plain(self) -> list[str]:
        """Write it for line-by-line tools."""
        ...

    def document(self) -> Document:
        """Return all of it."""
        ...

    def records(self) -> list[Document]:
        """Return it piece by piece, one for each line of JSONL."""
        ...

    def csv(self, *, stamp: str | None, headers: bool) -> list[str]:
        """Write it as CSV; the stamp of a watch becomes the first column."""
        ...

    def names(self) -> list[str]:
        """Return only what the rows are called."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ListView(Generic[R]):
    """Rows of one kind."""

    kind: Kind[R]
    rows: Sequence[R]
    """Those to show, in order."""
    total: int
    """How many there were before the limit."""
    columns: tuple[Column[R], ...] | None
    """Those that were asked for; None is the usual ones."""
    headers: bool | None
    content: Mapping[str, object]
    """What else stands in the document."""
    footer: str
    notes: Sequence[str] = ()

    @property
    def formats(self) -> frozenset[Format]:
        """Every one."""
        return LISTS

    def table(self, look: Look, *, wide: bool) -> list[str]:
        """Lay the rows out; wide has every column and cuts none."""
        return render_table(
            self.columns or (self.kind.columns if wide else self.kind.usual),
            self.rows,
            width=None if wide else look.width,
            color=look.color,
            headers=self.headers is not False,
            may_drop=self.columns is None and not wide,
        )

    def plain(self) -> list[str]:
        """Write a line for each row, with tabs between the texts of the table."""
        columns = self.columns or _without_sign(self.kind.usual)
        header = ["\t".join(_plain_header(column) for column in columns)] if self.headers else []
        return header + ["\t".join(_plain(column, row) for column in columns) for row in self.rows]

    def document(self) -> Document:
        """Return all rows with every key."""
        content = {**self.content, "total": self.total, "items": list(self.rows)}
        return self.kind.schema, content

    def records(self) -> list[Document]:
        """Return a document for each row, with every key of it."""
        return [(self.kind.row_schema, shallow(row) or {}) for row in self.rows]

    def csv(self, *, stamp: str | None, headers: bool) -> list[str]:
        """Write values instead of texts: numbers without units, and nothing where unknown."""
        return csv_lines(
            self.columns or _without_sign(self.kind.columns),
            self.rows,
            stamp=stamp,
            headers=headers and self.headers is not False,
        )

    def names(self) -> list[str]:
        """Return what the rows are called, as other commands take it."""
        return [printable(name) for row in self.rows if (name := self.kind.name_of(row))]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesView:
    """A summary in labelled lines, and the document behind it."""

    lines: Sequence[Line]
    schema: str
    content: Mapping[str, object]
    notes: Sequence[str] = ()
    footer: str = ""

    @property
    def formats(self) -> frozenset[Format]:
        """All but those of lists."""
        return DOCUMENTS

    def table(self, look: Look, *, wide: bool) -> list[str]:
        """Lay the lines out; wide folds none."""
        return render_lines(self.lines, width=None if wide else look.width, color=look.color)

    def plain(self) -> list[str]:
        """Write each line on one."""
        return render_lines(self.lines, width=None, color=False)

    def document(self) -> Document:
        """Return the one document."""
        return self.schema, self.content

    def records(self) -> list[Document]:
        """Return the one document."""
        return [self.document()]

    def csv(self, *, stamp: str | None, headers: bool) -> list[str]:
        """Have none."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """Have none."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchView:
    """A summary with a list below it, as one document."""

    summary: LinesView
    below: ListView[Any]

    @property
    def formats(self) -> frozenset[Format]:
        """All but those of lists."""
        return DOCUMENTS

    @property
    def notes(self) -> Sequence[str]:
        """Those of both."""
        return list(dict.fromkeys([*self.summary.notes, *self.below.notes]))

    @property
    def footer(self) -> str:
        """That of the list."""
        return self.below.footer

    def table(self, look: Look, *, wide: bool) -> list[str]:
        """Put one below the other."""
        below = self.below.table(look, wide=wide)
        return [*self.summary.table(look, wide=wide), "", *below]

    def plain(self) -> list[str]:
        """Put one below the other."""
        return [*self.summary.plain(), *self.below.plain()]

    def document(self) -> Document:
        """Return both in one."""
        _, of_list = self.below.document()
        return "cacheroute.watch/1", {**of_list, **self.summary.content}

    def records(self) -> list[Document]:
        """Return the one document: a line is a look."""
        return [self.document()]

    def csv(self, *, stamp: str | None, headers: bool) -> list[str]:
        """Have none."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """Have none."""
        raise NotImplementedError


def csv_lines(
    columns: Sequence[Column[R]],
    rows: Sequence[R],
    *,
    stamp: str | None = None,
    headers: bool = True,
) -> list[str]:
    """Write the values of rows as CSV; a stamp becomes the first column."""
    stamps = [] if stamp is None else [stamp]
    lines = []
    if headers:
        head = ["generated_at"] if stamps else []
        lines.append(_csv_line([*head, *(column.key for column in columns)]))
    reads = [column.reader() for column in columns]
    return lines + [_csv_line([*stamps, *(_csv(read(row)) for read in reads)]) for row in rows]


def _without_sign(columns: Sequence[Column[R]]) -> tuple[Column[R], ...]:
    """Leave out what only repeats a word for people."""
    return tuple(column for column in columns if column.key != "sign")


def _plain_header(column: Column[Any]) -> str:
    return column.header if column.header.strip() else column.key.upper()


def _plain(column: Column[Any], row: Any) -> str:
    value = column.reader()(row) if column.value or hasattr(row, column.key) else None
    if isinstance(value, datetime):
        return render_instant(value)
    # An empty field would move all others for tools that split at blanks.
    return printable(column.text(row)) or UNKNOWN


def _csv(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return render_instant(value)
        case list() | tuple():
            return printable(" ".join(map(str, value)))
        case dict():
            return json_text(value) if value else ""
        case _:
            return printable(str(value))


def _csv_line(values: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow(values)
    return buffer.getvalue()
