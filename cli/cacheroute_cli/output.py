"""What was asked for: the only writer of stdout.

Data and nothing else, so that a pipe can trust it. A reader that leaves early ends us quietly,
as it ends every filter.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from typing import Any

from cacheroute_cli.context import Color, Context
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.tables import Column, Line, render_line, render_table

_ASCII = str.maketrans(
    {"●": "*", "◐": "~", "✕": "x", "—": "-", "…": ".", "·": "|", "✔": "+", "▲": "^", "■": "#"},
)


class ReaderGone(Fault):
    """Whoever read our stdout has left; nothing is said about it."""

    code = "pipe.closed"
    exit = Exit.BROKEN_PIPE

    def __init__(self) -> None:
        super().__init__("")


def print_table(context: Context, columns: Sequence[Column[Any]], rows: Sequence[Any]) -> None:
    """Print rows under their headers, as wide as the terminal and no wider."""
    _write(render_table(columns, rows, width=_width(), color=_is_colored(context.color)))


def print_lines(context: Context, lines: Sequence[Line]) -> None:
    """Print labelled lines."""
    color = _is_colored(context.color)
    _write([render_line(line, color=color) for line in lines])


def print_document(schema: str, fields: Mapping[str, object]) -> None:
    """Print one JSON document that says which shape it has and when it was made."""
    document = {"schema": schema, "generated_at": render_instant(datetime.now(UTC)), **fields}
    _write([json.dumps(document, ensure_ascii=False, default=_plain, allow_nan=False)])


def print_text(text: str) -> None:
    """Print a text as it is."""
    _write([text])


def render_instant(instant: datetime) -> str:
    """Write an instant as RFC 3339 in UTC, to the millisecond."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no place in a document")


def _width() -> int | None:
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 0 else None


def _is_colored(color: Color) -> bool:
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _write(lines: Sequence[str]) -> None:
    text = "".join(line + "\n" for line in lines)
    encoding = sys.stdout.encoding or "ascii"
    if not encoding.lower().startswith("utf"):
        text = text.translate(_ASCII).encode(encoding, "replace").decode(encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered must not fail again when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReaderGone from None
