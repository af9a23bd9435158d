"""What was asked for: the only writer of stdout.

Data and nothing else, so that a pipe can trust it. A reader that leaves early ends us quietly,
as it ends every filter.
"""

import errno
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from cacheroute.console.amounts import render_instant
from cacheroute.console.cells import ascii_only
from cacheroute.console.columns import Column
from cacheroute.console.lines import Line
from cacheroute_cli.context import Color, Context
from cacheroute_cli.diagnostics import Exit, Fault
from cacheroute_cli.tables import render_lines, render_table


class ReaderGone(Fault):
    """Whoever read our stdout has left; nothing is said about it."""

    code = "pipe.closed"
    exit = Exit.BROKEN_PIPE

    def __init__(self) -> None:
        super().__init__("")


class CannotPrint(Fault):
    """What was asked for is known, and there is no room where stdout goes."""

    code = "stdout.unwritable"


def print_table(context: Context, columns: Sequence[Column[Any]], rows: Sequence[Any]) -> None:
    """Print rows under their headers, as wide as the terminal and no wider."""
    print_rows(
        render_table(columns, rows, width=width_of_stdout(), color=is_colored(context.color)),
        as_ascii=context.ascii,
    )


def print_lines(context: Context, lines: Sequence[Line]) -> None:
    """Print labelled lines, none of them wider than the terminal."""
    print_rows(
        render_lines(lines, width=width_of_stdout(), color=is_colored(context.color)),
        as_ascii=context.ascii,
    )


def print_document(schema: str, content: Mapping[str, object]) -> None:
    """Print one JSON document; it says which shape it has and when it was made."""
    print_rows([document_text(schema, content)])


def document_text(schema: str, content: Mapping[str, object]) -> str:
    """Write a document on one line, for any reader and any terminal."""
    document = {"schema": schema, "generated_at": render_instant(datetime.now(UTC)), **content}
    return json_text(document)


def json_text(value: object, *, indent: int | None = None) -> str:
    """Write JSON so that stdout can take it and no terminal obeys it."""
    text = json.dumps(value, ensure_ascii=False, default=_plain, allow_nan=False, indent=indent)
    if _takes_unicode() and text.replace("\n", "").isprintable():
        return text
    return json.dumps(value, ensure_ascii=True, default=_plain, allow_nan=False, indent=indent)


def print_text(text: str) -> None:
    """Print a text as it is."""
    print_rows([text])


def print_rows(lines: Sequence[str], *, as_ascii: bool = False) -> None:
    """Print finished lines; where only ASCII can be written, signs become letters."""
    write("".join(line + "\n" for line in lines), as_ascii=as_ascii)


def write(text: str, *, as_ascii: bool = False) -> None:
    """Write to stdout at once; raises ReaderGone when nobody reads it, else CannotPrint."""
    if as_ascii or not _takes_unicode():
        text = ascii_only(text)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as problem:
        raise _unwritable(problem) from None


def _unwritable(problem: OSError) -> Fault:
    _hush()
    # The other one is what a terminal says that has been closed.
    if isinstance(problem, BrokenPipeError) or problem.errno == errno.EIO:
        return ReaderGone()
    reason = (problem.strerror or "unknown").lower()
    return CannotPrint(f"stdout cannot be written ({reason})", cause=reason)


def width_of_stdout() -> int | None:
    """Return how many cells a line has; None where nobody has said."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 0 else None


def stdout_is_terminal() -> bool:
    """Whether somebody looks at stdout."""
    return sys.stdout.isatty()


def stdout_can_redraw() -> bool:
    """Whether stdout is a terminal on which the cursor can be moved."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def is_colored(color: Color) -> bool:
    """Tell whether to colour, as asked for or as suits stdout."""
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stdout_can_redraw()


def _takes_unicode() -> bool:
    return (sys.stdout.encoding or "ascii").lower().startswith("utf")


def _hush() -> None:
    # What is still buffered must not fail again when the interpreter ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def shallow(value: object) -> dict[str, object] | None:
    """Return the fields of a row, a dataclass or a struct, by name; None for another value."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    names: tuple[str, ...] | None = getattr(value, "__struct_fields__", None)
    return None if names is None else {name: getattr(value, name) for name in names}


def _plain(value: object) -> object:
    # One level: the encoder asks again for what is inside, and copies nothing.
    named = shallow(value)
    if named is not None:
        return named
    if isinstance(value, datetime):
        return render_instant(value)
    raise TypeError(f"{type(value).__name__} has no place in a document")
