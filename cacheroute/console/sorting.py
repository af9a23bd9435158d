"""In which order rows are shown: `score`, `gpu:desc`, or several, `state,score:desc`.

Unknown comes last whichever way round, and rows that are equal stay as they were.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cacheroute.console.columns import Column, Kind

R = TypeVar("R")

_DIGITS = re.compile(r"(\d+)")


class OrderProblem(ValueError):
    """What was typed is no order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Generic[R]):
    """One column to sort by."""

    column: Column[R]
    descending: bool = False


def read_order(text: str, kind: Kind[R]) -> tuple[Order[R], ...]:
    """Read an order for rows of this kind; raises OrderProblem or UnknownColumn."""
    orders = []
    for part in text.split(","):
        name, _, way = part.partition(":")
        if way not in ("", "asc", "desc"):
            raise OrderProblem(f"{part.strip()!r}: an order is asc or desc, not {way!r}")
        orders.append(Order(column=kind.column(name), descending=way == "desc"))
    return tuple(orders)


def in_order(rows: Sequence[R], orders: Sequence[Order[R]]) -> list[R]:
    """Sort the rows by the first column, and those equal in it by the next."""
    found = list(rows)
    for order in reversed(orders):
        read = order.column.order or order.column.reader()
        known = [row for row in found if read(row) is not None]
        unknown = [row for row in found if read(row) is None]
        known.sort(key=_comparable(read), reverse=order.descending)
        found = known + unknown
    return found


def _comparable(read: Callable[[R], object]) -> Callable[[R], Any]:
    def key(row: R) -> Any:
        value = read(row)
        if isinstance(value, str):
            return natural(value)
        if isinstance(value, list | tuple):
            return natural(" ".join(map(str, value)))
        return value

    return key


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return what sorts `i-9` before `i-10`."""
    return tuple(
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part.casefold())
        for part in _DIGITS.split(text)
        if part
    )
