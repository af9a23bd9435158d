"""Processes on stdout, in every form a list has."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cacheroute.console.rows.processes import PROCESSES, ProcessRow
from cacheroute_cli.asking import Found
from cacheroute_cli.context import Context
from cacheroute_cli.list_options import Listing, Watching
from cacheroute_cli.lists import Shown, columns_view
from cacheroute_cli.looking import look, print_view
from cacheroute_cli.process_rows import (
    only_wanted,
    row_of_status,
    rows_by_hand,
    rows_of_all,
    rows_of_stack,
)
from cacheroute_cli.stack_choice import Choice, find_stack
from cacheroute_cli.supervisor.process import ProcessPlan
from cacheroute_cli.supervisor.stack_home import ProcessStatus
from cacheroute_cli.views import ListView


def print_rows_of(
    listing: Listing, rows: Sequence[ProcessRow], *, stack: str | None, notes: Sequence[str] = ()
) -> None:
    """Print rows as a list command does."""
    view = _view(Shown(listing, PROCESSES), rows, stack, notes)
    print_view(listing.context, view)


def print_statuses(context: Context, stack: str, statuses: Iterable[ProcessStatus]) -> None:
    """Print processes of a stack after a change."""
    listing = Listing(watching=Watching(context=context))
    print_rows_of(listing, [row_of_status(status) for status in statuses], stack=stack)


def print_plans(context: Context, stack: str, plans: Iterable[ProcessPlan]) -> None:
    """Print processes that would run."""
    statuses = (
        ProcessStatus(
            name=plan.name,
            kind=plan.kind,
            stack=stack,
            state="planned",
            argv=plan.argv,
            urls=plan.urls,
            ports={port.name: port.port for port in plan.ports},
        )
        for plan in plans
    )
    print_statuses(context, stack, statuses)


def show_processes(listing: Listing, choice: Choice, *, all_: bool) -> None:
    """Run `ps`: once, or again and again."""
    shown = Shown(listing, PROCESSES)
    if shown.is_help:
        print_view(listing.context, columns_view(PROCESSES), listing.context.output or "table")
        return

    def fetch(_: object = None) -> ListView[ProcessRow]:
        if all_:
            rows, stack = rows_of_all(), None
        else:
            home = find_stack(choice)
            rows, stack = only_wanted(rows_of_stack(home)), home.name
        return _view(shown, rows, stack, _notes(rows, stack))

    if listing.watching.watch:
        look(listing.watching, fetch)
    else:
        print_view(listing.context, fetch())


def _view(
    shown: Shown, rows: Sequence[ProcessRow], stack: str | None, notes: Sequence[str]
) -> ListView[ProcessRow]:
    view = shown.view(Found(rows=rows, notes=notes))
    return replace(
        view,
        content={"stack": stack},
        footer=f"{len(view.rows)} of {len(rows)} processes"
        + (f"  ·  stack {stack}" if stack else ""),
    )


def _notes(rows: Sequence[ProcessRow], stack: str | None) -> list[str]:
    if not rows:
        by_hand = len(rows_by_hand()) if stack else 0
        if by_hand:
            those = "1 process was" if by_hand == 1 else f"{by_hand} processes were"
            return [f"the stack is not up; {those} started by hand: 'cacheroute ps --all'"]
        return ["nothing is up; bring a stack up with 'cacheroute up -d'"]
    orphans = [row.name for row in rows if row.state == "orphan"]
    if orphans:
        return [f"the supervisor of {stack or 'a stack'} is gone; 'cacheroute prune' ends the rest"]
    if any(row.state == "gone" for row in rows):
        return [
            f"the supervisor of {stack or 'a stack'} was killed, and its processes with it; "
            "'cacheroute prune' tidies up"
        ]
    return []
