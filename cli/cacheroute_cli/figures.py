"""What a run came to: the columns that such tables share, and how they are printed.

A table has sentences below it; CSV has the rows alone, and the document everything.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from cacheroute.console import cast
from cacheroute.console.columns import Column
from cacheroute_cli.context import Context
from cacheroute_cli.output import print_document, print_rows, print_table, print_text
from cacheroute_cli.views import csv_lines

FIRST_TOKEN = "Time to the first token"  # noqa: S105 - a time
REQUESTS: Column[Any] = cast.count("requests", "REQ", "Requests sent.")


def failures(doc: str) -> Column[Any]:
    """Build the column of what went wrong; none is plain."""
    return cast.count("failures", "FAIL", doc, tone=lambda row: "bad" if row.failures else "plain")


def half_below(key: str, header: str, what: str) -> Column[Any]:
    """Build the column of a median, in milliseconds."""
    return cast.span(key, header, f"{what} that half of the requests stayed below.")


def most_below(key: str, header: str, what: str) -> Column[Any]:
    """Build the column of a ninth decile, in milliseconds."""
    return cast.span(key, header, f"{what} that nine in ten stayed below.")


def print_figures(
    context: Context,
    columns: Sequence[Column[Any]],
    rows: Sequence[Any],
    *,
    sentences: Sequence[str],
    schema: str,
    content: Mapping[str, object],
) -> None:
    """Print rows in the form that is asked for; `content` is the whole document."""
    if context.as_json:
        print_document(schema, content)
    elif context.output == "csv":
        print_rows(csv_lines(columns, rows))
    else:
        print_table(context, columns, rows)
        print_text("\n".join(["", *sentences]))
