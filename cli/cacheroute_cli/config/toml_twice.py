"""Which key of a TOML text stands twice: the standard reader tells a line, and no name."""

import re
from dataclasses import dataclass

from cacheroute_cli.config.toml_lines import Path, Statement, statements

_NAMED = re.compile(r"'(?P<key>[^']+)'$")
_INLINE = "duplicate inline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice:
    """A key, and the two places where it stands."""

    name: str
    line: int
    """Of the second one."""
    first: int


def given_twice(text: str, line: int, said: str) -> Twice | None:
    """Find the key that the reader stumbled over at this line; None where it is not plain.

    `said` is what the reader says of it, in lower case.
    """
    until = "".join(text.splitlines(keepends=True)[:line])
    try:
        *before, last = statements(until)
    except ValueError:
        return None
    if said.startswith(_INLINE):
        named = _NAMED.search(said)
        if named is None:
            return None
        name = ".".join((*last.path, named["key"]))
        return Twice(name=name, line=line, first=last.line)
    first = next((one for one in before if _clashes(one, last)), None)
    if first is None:
        return None
    shared = min(first.path, last.path, key=len)
    return Twice(name=".".join(shared), line=last.line, first=first.line)


def _clashes(earlier: Statement, later: Statement) -> bool:
    """Whether both cannot stand in one text: the same key, or a value and a table of one name."""
    if earlier.path == later.path:
        return True
    inner, outer = sorted((earlier, later), key=lambda one: len(one.path), reverse=True)
    return not outer.is_header and _is_below(inner.path, outer.path)


def _is_below(inner: Path, outer: Path) -> bool:
    return inner[: len(outer)] == outer
