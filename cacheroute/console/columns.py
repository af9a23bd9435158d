"""Columns as a registry: what a value is called, where it is from, and how it is written.

A table, a CSV file, a filter, an order, a screen and an explanation all read these; nothing
else anywhere knows a header or a unit.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from operator import attrgetter
from typing import Generic, Literal, TypeVar

from cacheroute.console.cells import UNKNOWN, UNTOLD

R = TypeVar("R")
Tone = Literal["good", "warn", "bad", "dim", "plain"]
Unit = Literal["", "%", "s", "ms", "MB", "Mbps", "req/s", "ratio"]

GAP = "  "
NAME_FLOOR = 24
"""Floor of what people tell rows apart by, and type: a name that is cut is no name."""
NOBODY_KNOWS = "Nobody has said; it is not 0."


class UnknownColumn(ValueError):
    """A name that no column has."""

    def __init__(self, name: str, *, of: str, known: Iterable[str], nearest: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        """All that would have done, each by one name."""
        meant = f"; did you mean {' or '.join(map(repr, nearest))}?" if nearest else ""
        super().__init__(f"{of} have no column {name!r}{meant}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[R]):
    """One column of a table over rows of type R."""

    key: str
    """Name of the value in `-o json`, in filters and in orders."""
    header: str
    """Its lower-case form names the column too."""
    text: Callable[[R], str]
    """Writes the value; what it returns may hold anything and is made safe."""
    doc: str
    """What the value means, in a sentence."""
    value: Callable[[R], object] | None = None
    """The value itself; without it the attribute of the row that is named as the key."""
    matched: Callable[[R], object] | None = None
    """What filters compare, where that is more than the value."""
    order: Callable[[R], object] | None = None
    """What orders compare, where that is not the value."""
    unit: Unit = ""
    source: str = ""
    """Who measures or counts it."""
    unknown: str = NOBODY_KNOWS
    """What a dash, an empty field or null says."""
    lacks: bool = False
    """Whether that is that there is no value, and not that nobody knows it."""
    aliases: tuple[str, ...] = ()
    """Further names in filters and orders."""
    right: bool = False
    """Whether it is aligned right, as numbers are."""
    width: int | None = None
    """Cells it is usually given on a screen that does not measure its rows; None is as needed."""
    gives_way: bool = False
    """Whether it may be cut when the terminal is too narrow."""
    floor: int = 8
    """Cells to which it is cut at most while another column can go instead."""
    rank: int = 0
    """Which columns go first when there is no room: the highest; 0 stays."""
    wide: bool = False
    """Whether it is shown only when asked for, or with `-o wide`."""
    spare: bool = False
    """Whether it is left out where there is no room for it, or nothing to tell."""
    gap: str = GAP
    """What stands before it."""
    tone: Callable[[R], Tone] | None = None
    ages: bool = False
    """Whether what it says changes as time goes by, and nothing else does."""

    def reader(self) -> Callable[[R], object]:
        """Return what reads the value out of a row; None is unknown."""
        return self.value or attrgetter(self.key)

    def on_screen(self, row: R) -> str:
        """Write the value where what is not known and what is not there have a sign each."""
        text = self.text(row)
        return UNTOLD if text == UNKNOWN and not self.lacks else text

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it may be called."""
        header = self.header.strip().lower()
        return tuple(dict.fromkeys(name for name in (self.key, header, *self.aliases) if name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind(Generic[R]):
    """One kind of list: its rows' columns, and what the list is called."""

    name: str
    """The command, and the middle of the schema's name."""
    noun: str
    """Its rows, in the plural."""
    columns: tuple[Column[R], ...]
    name_of: Callable[[R], str]
    """What `-o name` prints of a row."""
    searched: Callable[[R], str]
    """Where a bare word of a filter is looked for."""
    version: int = 1
    """Of the document; it grows when a key goes or changes its meaning."""

    @property
    def schema(self) -> str:
        """Name of the document with all rows."""
        return f"cacheroute.{self.name}/{self.version}"

    @property
    def row_schema(self) -> str:
        """Name of the document with one row."""
        return f"cacheroute.{self.name}.row/{self.version}"

    @property
    def usual(self) -> tuple[Column[R], ...]:
        """The columns shown when none are asked for."""
        return tuple(column for column in self.columns if not column.wide)

    def column(self, name: str) -> Column[R]:
        """Find a column by any of its names; raises UnknownColumn."""
        wanted = name.strip().lower()
        for column in self.columns:
            if wanted in column.names:
                return column
        every = [name for column in self.columns for name in column.names]
        nearest = get_close_matches(wanted, every, n=2, cutoff=0.6)
        keys = [column.key for column in self.columns]
        raise UnknownColumn(name, of=self.noun, known=keys, nearest=nearest)

    def chosen(self, names: str) -> tuple[Column[R], ...]:
        """Read `id,state,score`; raises UnknownColumn."""
        return tuple(self.column(name) for name in names.split(",") if name.strip())
