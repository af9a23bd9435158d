"""The options that every list has, and those that every watch has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cacheroute_cli.context import (
    DEFAULT_INTERVAL_S,
    MAX_INTERVAL_S,
    MIN_INTERVAL_S,
    Context,
    Given,
    resolve,
)
from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.options import attach, refuse

ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B",
        help="Which columns, in which order; 'help' lists them. JSON always has every key.",
    ),
]
HeadersOption = Annotated[
    bool | None,
    typer.Option(
        "--headers/--no-headers", help="Whether a header comes first (default: not in plain)."
    ),
]
WatchOption = Annotated[
    bool | None,
    typer.Option(
        "--watch", "-w", help="Look again and again: in place, or JSONL in a pipe.",
        show_default=False,
    ),
]  # fmt: skip
IntervalOption = Annotated[
    float | None,
    typer.Option(
        "--interval", "-i", metavar="S",
        help=f"Time between two looks (default: {DEFAULT_INTERVAL_S:g}, "
        f"at least {MIN_INTERVAL_S:g}).",
    ),
]  # fmt: skip
CountOption = Annotated[
    int | None, typer.Option("--count", metavar="N", min=1, help="End after so many looks.")
]
SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort", "-s", metavar="COL[:desc]", help="Order; several with a comma between them."
    ),
]
FilterOption = Annotated[
    str | None,
    typer.Option(
        "--filter", "-f", metavar="EXPR",
        help="Which rows: words, /regex/, ~fuzzy, state:stale, gpu>80, tag:x; "
        "a blank is and, a comma is or, ! is not.",
    ),
]  # fmt: skip
LimitOption = Annotated[
    int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Show no more than N.")
]
NumberArgument = Annotated[
    int | None, typer.Argument(metavar="N", min=1, help="The same as --limit.")
]
AllOption = Annotated[
    bool, typer.Option("--all", "-a", help="Show those that have expired as well.")
]

WATCHING: dict[str, Any] = {
    "watch": WatchOption,
    "interval_s": IntervalOption,
    "count": CountOption,
}
LISTING: dict[str, Any] = {
    "sort": SortOption,
    "filter_": FilterOption,
    "limit": LimitOption,
    "columns": ColumnsOption,
    "headers": HeadersOption,
    **WATCHING,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Whether to look again, how often, and until when."""

    context: Context
    watch: bool = False
    interval_s: float = DEFAULT_INTERVAL_S
    count: int | None = None
    """Looks to take; None is until somebody stops it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Everything that was asked of a list."""

    watching: Watching
    columns: str | None = None
    headers: bool | None = None
    """None is what suits the format."""
    sort: str | None = None
    filter: str | None = None
    limit: int | None = None

    @property
    def context(self) -> Context:
        """What is the same for all commands."""
        return self.watching.context


def with_watching(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options and those of a watch, as a Watching."""
    return attach(command, Watching, WATCHING, _watching)


def with_listing(
    *, numbered: bool = True, watched: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command all options of a list, as a Listing; `numbered` adds the argument N.

    What never changes is not `watched`, and has no options for it.
    """

    def build(given: Given, more: dict[str, Any]) -> Listing:
        if not watched:
            refuse(name for name in given.for_lists if name in WATCHING)
        return Listing(
            watching=_watching(given, more)
            if watched
            else Watching(context=resolve(given, asks=False)),
            columns=given.columns,
            headers=given.headers,
            sort=more["sort"],
            filter=more["filter_"],
            limit=more["limit"] if more["limit"] is not None else more.get("number"),
        )

    options = ({"number": NumberArgument} if numbered else {}) | LISTING
    if not watched:
        options = {name: one for name, one in options.items() if name not in WATCHING}
    return lambda command: attach(command, Listing, options, build)


def _watching(given: Given, more: dict[str, Any]) -> Watching:
    context = resolve(given)
    interval_s = context.interval_s
    if not MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S:
        raise UsageFault(
            f"--interval must be at least {MIN_INTERVAL_S:g} s and at most {MAX_INTERVAL_S:g} s, "
            f"not {interval_s:g}"
        )
    return Watching(
        context=context,
        watch=bool(given.watch) or more["count"] is not None,
        interval_s=interval_s,
        count=more["count"],
    )
