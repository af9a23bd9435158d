"""Looking once, or again and again: what is fetched, in which form it goes to stdout, and when.

A Proxy that is gone for a while ends no watch that had begun: the last picture stays, says so,
and goes on when there is something new.
"""

import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from cacheroute.client.faults import ControlFault
from cacheroute.console.amounts import render_instant
from cacheroute_cli.context import Context, Format
from cacheroute_cli.diagnostics import Fault, UsageFault, note, stderr_is_terminal
from cacheroute_cli.list_options import Watching
from cacheroute_cli.output import (
    document_text,
    is_colored,
    print_rows,
    stdout_can_redraw,
    stdout_is_terminal,
    width_of_stdout,
    write,
)
from cacheroute_cli.pace import Pace
from cacheroute_cli.redraw import Picture, Size
from cacheroute_cli.views import Look, View

if TYPE_CHECKING:
    # What only prints a view must not pay for a client.
    from cacheroute.client.control import ControlClient

V = TypeVar("V", bound=View)
Fetch = Callable[["ControlClient"], V]


def look(watching: Watching, fetch: Fetch[V], *, usual: Format | None = None) -> V:
    """Print one look, or a watch of them; returns the last. `usual` outranks what suits stdout."""
    context = watching.context
    form = form_of(watching, usual)
    if watching.watch:
        return _watch(watching, fetch, form)
    from cacheroute_cli.control import control_client

    with control_client(context) as client:
        view = fetch(client)
    print_view(context, view, form)
    return view


def print_view(context: Context, view: View, form: Format | None = None) -> None:
    """Print one view, and what is worth knowing beside it for whoever watches."""
    form = form or form_for(context)
    _require(view, form)
    print_rows(_written(context, view, form), as_ascii=_as_ascii(context, form))
    if stderr_is_terminal() and form in ("table", "wide"):
        for line in _below(view):
            note(line)


def form_of(watching: Watching, usual: Format | None = None) -> Format:
    """Return the form to print in: as asked for, as is usual, or as suits stdout."""
    if watching.watch and not stdout_is_terminal():
        usual = usual or "jsonl"
    return watching.context.output or usual or form_for(watching.context)


def form_for(context: Context) -> Format:
    """Return the form to print one view in: as asked for, or as suits stdout."""
    return context.output or ("table" if stdout_is_terminal() else "plain")


def _require(view: View, form: Format) -> None:
    if form not in view.formats:
        there = ", ".join(sorted(view.formats))
        raise UsageFault(f"there is no {form} of this; there are {there}")


def _as_ascii(context: Context, form: Format) -> bool:
    return context.ascii and form in ("table", "plain", "wide")


def _written(
    context: Context,
    view: View,
    form: Format,
    *,
    tick: int | None = None,
    headers: bool = True,
) -> list[str]:
    """Write a view in a form; `tick` numbers the looks of a watch."""
    of_watch = {} if tick is None else {"tick": tick}
    match form:
        case "table" | "wide":
            seen = Look(width=width_of_stdout(), color=is_colored(context.color))
            return view.table(seen, wide=form == "wide")
        case "plain":
            return view.plain()
        case "json":
            schema, content = view.document()
            return [document_text(schema, {**of_watch, **content})]
        case "jsonl":
            return [
                document_text(schema, {**of_watch, **content}) for schema, content in view.records()
            ]
        case "csv":
            stamp = None if tick is None else render_instant(datetime.now(UTC))
            return view.csv(stamp=stamp, headers=headers)
        case "name":
            return view.names()


def _below(view: View) -> list[str]:
    return [*([view.footer] if view.footer else []), *view.notes]


def _watch(watching: Watching, fetch: Fetch[V], form: Format) -> V:
    from cacheroute_cli.control import as_our_fault, control_client

    in_place = form in ("table", "wide") and stdout_can_redraw()
    show = _InPlace(watching.context, form) if in_place else _OneByOne(watching.context, form)
    view: V | None = None
    trouble: Fault | None = None
    looks = 0
    context = watching.context
    with control_client(context) as client, Pace(watching.interval_s) as pace:
        while watching.count is None or looks < watching.count:
            if not pace.is_due():
                show.resized()
                continue
            pace.next()
            looks += 1
            try:
                view, trouble = fetch(client), None
            except ControlFault as fault:
                trouble = as_our_fault(fault, context.proxy_url, context)
                if view is None:
                    raise trouble from fault
            show.look(view, trouble, looks)
    if trouble is not None:
        raise trouble
    assert view is not None, "a watch has at least one look"  # noqa: S101
    return view


class _OneByOne:
    """Each look after the one before: for pipes, files and terminals that cannot redraw."""

    def __init__(self, context: Context, form: Format) -> None:
        self._context = context
        self._form = form
        self._noted: str | None = None

    def look(self, view: View, trouble: Fault | None, tick: int) -> None:
        """Print a look; of a failed one only whoever watches hears, once."""
        said = None if trouble is None else f"{trouble.message}; trying again"
        if said is not None and said != self._noted and stderr_is_terminal():
            note(said)
        self._noted = said
        if trouble is not None:
            return
        _require(view, self._form)
        lines = _written(self._context, view, self._form, tick=tick, headers=tick == 1)
        if self._form in ("table", "wide"):
            lines = ["", *lines] if tick > 1 else lines
        if lines:
            print_rows(lines, as_ascii=_as_ascii(self._context, self._form))

    def resized(self) -> None:
        """Leave what is printed as it is."""


class _InPlace:
    """Each look in the place of the one before."""

    def __init__(self, context: Context, form: Format) -> None:
        self._context = context
        self._form = form
        self._picture = Picture()
        self._last: tuple[View, Sequence[str]] | None = None

    def look(self, view: View, trouble: Fault | None, tick: int) -> None:  # noqa: ARG002
        """Draw what has changed."""
        now = datetime.now().astimezone()
        state = f"{now:%H:%M:%S}"
        if trouble is not None:
            state += f"  ✕ {trouble.message}; trying again, this is the last that was seen"
        below = _below(view)
        head, *rest = below or [""]
        self._last = (view, [f"{head}  ·  {state}" if head else state, *rest])
        self._draw()

    def resized(self) -> None:
        """Draw the last look anew."""
        if self._last is not None:
            self._draw()

    def _draw(self) -> None:
        assert self._last is not None, "there was a look"  # noqa: S101
        view, below = self._last
        columns, rows = shutil.get_terminal_size()
        size = Size(columns=columns, rows=rows)
        seen = Look(width=size.columns, color=is_colored(self._context.color))
        lines = view.table(seen, wide=self._form == "wide")
        room = max(1, size.rows - 1 - len(below))
        if len(lines) > room:
            hidden = len(lines) - room
            lines = lines[:room]
            below = [f"{hidden} more have no room  ·  {below[0]}", *below[1:]]
        as_ascii = _as_ascii(self._context, self._form)
        write(self._picture.redrawn([*lines, *below], size), as_ascii=as_ascii)
