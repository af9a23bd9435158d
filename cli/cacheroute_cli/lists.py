"""Every list: the rows it finds, in the order, of the columns and no more than asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cacheroute.client.control import ControlClient
from cacheroute.console.columns import Column, Kind, UnknownColumn
from cacheroute.console.filters import Filter, FilterProblem, read_filter
from cacheroute.console.kinds import KINDS
from cacheroute.console.sorting import Order, OrderProblem, in_order, read_order
from cacheroute_cli.asking import ASKERS, FOLLOWED, Found, Wanted
from cacheroute_cli.context import Context, Format
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.list_options import Listing
from cacheroute_cli.looking import form_of, look, print_view
from cacheroute_cli.views import ListView

_GOES_ON: frozenset[Format] = frozenset(("plain", "jsonl", "csv", "name"))
"""Forms in which a watch of a log prints only what is new."""
_MEANING_FLOOR = 48
"""Cells below which a meaning is no sentence any more."""
_COUNTS_EVERYTHING = "state"
"""Whoever filters by this column means those as well that have expired."""


def show_list(
    listing: Listing, name: str, wanted: Wanted | None = None, *, usual: Format | None = None
) -> None:
    """Run the command of a list; `usual` is its format where none was asked for."""
    kind = KINDS[name]
    shown = Shown(listing, kind)
    if shown.is_help:
        print_view(listing.context, columns_view(kind), listing.context.output or "table")
        return
    wanted = wanted or Wanted()
    if _COUNTS_EVERYTHING in shown.filtered_by:
        wanted = replace(wanted, all=True)
    is_log = listing.watching.watch and form_of(listing.watching, usual) in _GOES_ON
    followed = FOLLOWED.get(name) if is_log else None
    seen = 0
    before: Sequence[Any] = ()

    def fetch(client: ControlClient) -> ListView[Any]:
        nonlocal seen, before
        found = ASKERS[name](client, wanted)
        if followed:
            found, seen = _only_new(found, followed, seen)
        if listing.watching.watch:
            before = remembered_rows(found, before)
            found = replace(found, rows=before)
        return shown.view(found, of_all=wanted.all, newest_last=followed is not None)

    look(listing.watching, fetch, usual=usual)


class Shown:
    """The options of a list, read once and applied to every look."""

    def __init__(self, listing: Listing, kind: Kind[Any]) -> None:
        self._listing = listing
        self._kind = kind
        self.is_help = listing.columns == "help"
        self._columns = self._read_columns()
        self._filter = self._read_filter()
        self._orders = self._read_orders()

    @property
    def filtered_by(self) -> frozenset[str]:
        """Keys of the columns that the filter names."""
        return self._filter.keys if self._filter else frozenset()

    @property
    def content(self) -> Mapping[str, object]:
        """What stands in a document beside the rows."""
        context = self._listing.context
        return {"context": context.name, "proxy_url": context.proxy_url}

    def view(
        self, found: Found[Any], *, of_all: bool = False, newest_last: bool = False
    ) -> ListView[Any]:
        """Return what is to be printed of the rows; a limit keeps the first, or the newest."""
        rows = self._filter.of(found.rows) if self._filter else list(found.rows)
        rows = in_order(rows, self._orders) if self._orders else rows
        limit = self._listing.limit
        shown = rows[-limit:] if limit and newest_last else rows[:limit]
        context = self._listing.context
        return ListView(
            kind=self._kind,
            rows=shown,
            total=len(rows),
            columns=self._columns,
            headers=self._listing.headers,
            content=self.content,
            footer=self._footer(
                context, len(shown), matching=len(rows), there=len(found.rows), of_all=of_all
            ),
            notes=found.notes,
        )

    def _footer(
        self, context: Context, shown: int, *, matching: int, there: int, of_all: bool
    ) -> str:
        # What a limit hides counts before what a filter leaves out: it is what was asked for.
        is_cut = shown < matching
        cut = " (--limit)" if is_cut else ""
        filtered = f"  ·  {self._filter.text}" if self._filter else ""
        which = "  ·  all" if of_all else ""
        where = context.label or context.name or context.proxy_url
        count = f"{shown} of {matching if is_cut else there}"
        return f"{count} {self._kind.noun}{cut}{which}{filtered}  ·  {where}"

    def _read_columns(self) -> tuple[Column[Any], ...] | None:
        if self._listing.columns is None or self.is_help:
            return None
        try:
            columns = self._kind.chosen(self._listing.columns)
        except UnknownColumn as problem:
            raise unknown_column("--columns", problem) from None
        if not columns:
            raise UsageFault("--columns names none", hint="'--columns help' lists them")
        return columns

    def _read_filter(self) -> Filter[Any] | None:
        if self._listing.filter is None or not self._listing.filter.strip():
            return None
        try:
            return read_filter(self._listing.filter, self._kind)
        except FilterProblem as problem:
            raise UsageFault(f"--filter: {problem}", hint=problem.hint, at=problem.at) from None

    def _read_orders(self) -> Sequence[Order[Any]]:
        if self._listing.sort is None:
            return ()
        try:
            return read_order(self._listing.sort, self._kind)
        except UnknownColumn as problem:
            raise unknown_column("--sort", problem) from None
        except OrderProblem as problem:
            raise UsageFault(f"--sort: {problem}") from None


def unknown_column(option: str, problem: UnknownColumn) -> UsageFault:
    """Return the fault of a column that is not there, with those that are."""
    return UsageFault(
        f"{option}: {problem}", hint="'--columns help' lists them", known=list(problem.known)
    )


def columns_view(kind: Kind[Any]) -> ListView[Any]:
    """Return the columns of a kind as a list of their own, which no Proxy was asked for."""
    from cacheroute.console.explain import EXPLAIN, of_kind

    rows = of_kind(kind)
    # What they are called and mean comes first; other names and units go where there is no room.
    term, unit, names, meaning = EXPLAIN.chosen("term,unit,names,meaning")
    shown = (
        term,
        replace(unit, wide=False, rank=1),
        replace(names, wide=False, rank=2),
        replace(meaning, floor=_MEANING_FLOOR),
    )
    others = tuple(one for one in EXPLAIN.columns if one.wide and one.key not in ("unit", "names"))
    return ListView(
        kind=replace(EXPLAIN, columns=shown + others),
        rows=rows,
        total=len(rows),
        columns=None,
        headers=None,
        content={},
        footer="",
    )


def remembered_rows(found: Found[Any], before: Sequence[Any]) -> Sequence[Any]:
    """Fill in since when alerts are there; other rows stay as they are."""
    if found.now is None:
        return found.rows
    from cacheroute.console.alerts import remembered

    return remembered(found.rows, before, now=found.now)


def _only_new(found: Found[Any], key: str, seen: int) -> tuple[Found[Any], int]:
    """Leave out what was seen, oldest first, as a log is read."""
    newest = max((getattr(row, key) for row in found.rows), default=seen)
    if newest < seen:
        # The Proxy has started anew, and counts from one again.
        seen = 0
    rows = [row for row in reversed(found.rows) if getattr(row, key) > seen]
    return Found(rows=rows, notes=found.notes), newest
