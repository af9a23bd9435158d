"""Which rows are wanted: `state:stale,dead gpu>80 !tag:demo`, read once and asked of each row.

A blank is "and", a comma is "or", and `!` in front turns a whole clause round:

    word         in the id, the address or a tag, in any case
    /regex/      the same, as a regular expression
    ~word        its letters in order in the id, with anything between
    key:value    is it, in any case; `*` stands for anything; a list has it
    key:/regex/  matches it
    key:unknown  nobody knows it
    key>80       and >=, <, <=, =, != with units: age>2m, gpu_mem>10GB

`state:stale,dead` is either of two states: a key holds until the next one of the clause.
Unknown compares with nothing, so it is neither above 80 nor below.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from cacheroute.console.columns import Column, Kind, UnknownColumn
from cacheroute.console.comparing import Test, compared, matching
from cacheroute.console.patterns import Expression

R = TypeVar("R")

MAX_FILTER_CHARS = 1_000

_KEYED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(:|>=|<=|!=|>|<|=)")
_KEYED_FUZZY = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)!?~")


class FilterProblem(ValueError):
    """What was typed is no filter; `at` counts characters from 0."""

    def __init__(self, message: str, *, at: int, hint: str | None = None) -> None:
        super().__init__(f"{message}, at character {at + 1}")
        self.at = at
        self.hint = hint
        """The columns there are, where one was misspelt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter(Generic[R]):
    """A filter that has been read."""

    text: str
    accepts: Callable[[R], bool]
    keys: frozenset[str] = field(default_factory=frozenset)
    """The columns it names."""

    def of(self, rows: Iterable[R]) -> list[R]:
        """Return the rows that it accepts."""
        accepts = self.accepts
        return [row for row in rows if accepts(row)]


def read_filter(text: str, kind: Kind[R]) -> Filter[R]:
    """Read a filter for rows of this kind; raises FilterProblem."""
    if len(text) > MAX_FILTER_CHARS:
        raise FilterProblem(
            f"a filter has at most {MAX_FILTER_CHARS} characters", at=MAX_FILTER_CHARS
        )
    reader = _Reader(text, kind)
    clauses = reader.clauses()
    return Filter(text=text, accepts=_all(clauses), keys=frozenset(reader.keys))


class _Reader(Generic[R]):
    """Goes through the text once, from left to right."""

    def __init__(self, text: str, kind: Kind[R]) -> None:
        self._text = text
        self._kind = kind
        self._at = 0
        self.keys: set[str] = set()

    def clauses(self) -> list[Test[R]]:
        found = []
        while self._skip_blanks():
            found.append(self._clause())
        return found

    def _skip_blanks(self) -> bool:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._at < len(self._text)

    def _clause(self) -> Test[R]:
        is_inverse = self._take("!")
        column: Column[R] | None = None
        tests = []
        while True:
            test, column = self._alternative(column)
            tests.append(test)
            if not self._take(","):
                break
        found = _any(tests)
        return (lambda row: not found(row)) if is_inverse else found

    def _alternative(self, column: Column[R] | None) -> tuple[Test[R], Column[R] | None]:
        is_inverse = self._take("!")
        keyed = _KEYED.match(self._text, self._at)
        if keyed:
            column, sign = self._column(keyed[1]), keyed[2]
            self._at = keyed.end()
            test = self._test_of(column, sign)
            column = column if sign == ":" else None
        elif column is not None:
            test = self._test_of(column, ":")
        else:
            self._refuse_keyed_fuzzy()
            test = self._search()
        return ((lambda row: not test(row)) if is_inverse else test), column

    def _refuse_keyed_fuzzy(self) -> None:
        """Refuse `id~x`, which would be searched for as it stands and never found."""
        keyed = _KEYED_FUZZY.match(self._text, self._at)
        if keyed and any(keyed[1].lower() in one.names for one in self._kind.columns):
            raise FilterProblem(
                f"{keyed[1]}~ is no test; {keyed[1]}:/…/ matches a pattern", at=keyed.end(1)
            )

    def _column(self, name: str) -> Column[R]:
        try:
            column = self._kind.column(name)
        except UnknownColumn as problem:
            hint = "'--columns help' lists them"
            raise FilterProblem(str(problem), at=self._at, hint=hint) from None
        self.keys.add(column.key)
        return column

    def _test_of(self, column: Column[R], sign: str) -> Test[R]:
        start = self._at
        if sign in (":", "=", "!=") and self._peek() == "/":
            pattern = self._regex()
            test: Test[R] = matching(column, pattern)
            return (lambda row: not test(row)) if sign == "!=" else test
        value = self._value()
        try:
            return compared(column, sign, value)
        except ValueError as problem:
            raise FilterProblem(f"{column.key}{sign}{value}: {problem}", at=start) from None

    def _search(self) -> Test[R]:
        searched = self._kind.searched
        if self._peek() == "/":
            pattern = self._regex()
            return lambda row: pattern.is_in(searched(row))
        is_fuzzy = self._take("~")
        word = self._value().casefold()
        if is_fuzzy:
            name_of = self._kind.name_of
            return lambda row: _has_in_order(name_of(row).casefold(), word)
        return lambda row: word in searched(row).casefold()

    def _regex(self) -> Expression:
        start = self._at
        end = start + 1
        while end < len(self._text) and self._text[end] != "/":
            end += 2 if self._text[end] == "\\" else 1
        if end >= len(self._text):
            raise FilterProblem("the regular expression has no closing /", at=start)
        pattern = self._text[start + 1 : end].replace("\\/", "/")
        self._at = end + 1
        try:
            return Expression(pattern)
        except ValueError as problem:
            raise FilterProblem(str(problem), at=start) from None

    def _value(self) -> str:
        """Take a word, or what stands between double quotes."""
        start = self._at
        if self._take('"'):
            end = self._text.find('"', self._at)
            if end < 0:
                raise FilterProblem("the quoted text has no closing quote", at=start)
            value = self._text[self._at : end]
            self._at = end + 1
        else:
            end = start
            while end < len(self._text) and not (
                self._text[end].isspace() or self._text[end] == ","
            ):
                end += 1
            value = self._text[start:end]
            self._at = end
        if not value:
            raise FilterProblem("something is missing", at=start)
        return value

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, sign: str) -> bool:
        if self._peek() != sign:
            return False
        self._at += 1
        return True


def _all(tests: Sequence[Test[R]]) -> Test[R]:
    if len(tests) == 1:
        return tests[0]
    return lambda row: all(test(row) for test in tests)


def _any(tests: Sequence[Test[R]]) -> Test[R]:
    if len(tests) == 1:
        return tests[0]
    return lambda row: any(test(row) for test in tests)


def _has_in_order(text: str, letters: str) -> bool:
    """Whether the letters are in the text one after the other, with anything between."""
    rest = iter(text)
    return all(letter in rest for letter in letters)
