"""Columns of the console's document: written short where all values are the same, and read back.

A column is a list with a value for each Instance, or one value that holds for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from cacheroute.wire.console import Lists

T = TypeVar("T")

Numbers = list[float | None] | float | None
Counts = list[int | None] | int | None
Words = list[str | None] | str | None
Flags = list[bool] | bool
Answers = list[bool | None] | bool | None


def folded(column: list[T]) -> list[T] | T:
    """Write a column whose values are all the same as that one value."""
    # Most columns that differ do so in their ends already, and need not be counted through.
    if column and column[0] == column[-1] and column.count(column[0]) == len(column):
        return column[0]
    return column


def spread(column: Any, count: int) -> list[Any]:
    """Return a value for each Instance; a list of another length is cut or filled with None."""
    if not isinstance(column, list):
        return [column] * count
    if len(column) == count:
        return column
    return [*column[:count], *[None] * (count - len(column))]


def spread_lists(column: Lists, count: int) -> list[list[str] | None]:
    """Return the list of words of each Instance."""
    values = column.values
    if isinstance(column.at, int):
        return [values[column.at] if 0 <= column.at < len(values) else None] * count
    return [
        values[at] if isinstance(at, int) and 0 <= at < len(values) else None
        for at in spread(column.at, count)
    ]
