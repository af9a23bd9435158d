"""Where things stand in a TOML text: each statement with its path, its lines and its value.

For texts that the standard reader has accepted; it tells what they mean and not where. An
edit needs both, and so does a complaint that names a line.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Path = tuple[str, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_BLANK = re.compile(r"[ \t]*")
_VALUE_PART = re.compile(
    r"""
    (?P<text>\"\"\"(?:[^\\]|\\.)*?\"{3,5}|'''.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
    |(?P<comment>\#[^\n]*)
    |(?P<open>[\[{])|(?P<close>[\]}])
    |(?P<end>\n)
    |(?P<other>[^"'\#\[\]{}\n]+)
    """,
    re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One `key = value`, or one table header."""

    path: Path
    """From the root of the document."""
    is_header: bool
    start: int
    """Where its first line begins, in characters."""
    end: int
    """Where the line after it begins."""
    value: tuple[int, int] | None
    """Where its value begins and ends; None for a header."""
    line: int
    """Number of its first line, from 1."""
    above: Path
    """The table it stands in; for a header its own path."""


def statements(text: str) -> Iterator[Statement]:
    """Go through a text that is valid TOML."""
    at = 0
    above: Path = ()
    while at < len(text):
        start = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # matches nothing too
        if start >= len(text) or text[start] in "#\r\n":
            at = _next_line(text, start)
            continue
        line = text.count("\n", 0, at) + 1
        if text[start] == "[":
            above, _ = _keys(text, start + (2 if text.startswith("[[", start) else 1))
            end = _next_line(text, start)
            yield Statement(
                path=above, is_header=True, start=at, end=end, value=None, line=line, above=above
            )
            at = end
            continue
        keys, equals = _keys(text, start)
        value = _value(text, equals + 1)
        end = _next_line(text, value[1])
        yield Statement(
            path=above + keys,
            is_header=False,
            start=at,
            end=end,
            value=value,
            line=line,
            above=above,
        )
        at = end


def line_of(found: Sequence[Statement], path: Path) -> int | None:
    """Return the line of a key, or of the nearest thing around it that has one."""
    best, line = 0, None
    for statement in found:
        shared = statement.path[: len(path)]
        if path[: len(shared)] == shared and len(shared) > best:
            best, line = len(shared), statement.line
    return line


def _keys(text: str, at: int) -> tuple[Path, int]:
    """Read a dotted key; returns where it ends, at `=` or `]`."""
    keys: list[str] = []
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        for pattern in (_BARE, _BASIC, _LITERAL):
            if found := pattern.match(text, at):
                break
        else:
            raise ValueError("not a TOML key")
        word = found[0]
        keys.append(tomllib.loads(f"x = {word}")["x"] if word[0] in "\"'" else word)
        at = _BLANK.match(text, found.end()).end()  # type: ignore[union-attr]
        if text[at : at + 1] != ".":
            return tuple(keys), at
        at += 1


def _value(text: str, at: int) -> tuple[int, int]:
    start = end = _BLANK.match(text, at).end()  # type: ignore[union-attr]
    at, depth = start, 0
    while at < len(text) and (part := _VALUE_PART.match(text, at)):
        at = part.end()
        match part.lastgroup:
            case "end" | "comment" if depth == 0:
                break
            case "open":
                depth += 1
            case "close":
                depth -= 1
        if part.lastgroup != "comment" and part[0].strip():
            end = part.start() + len(part[0].rstrip())
    return start, end


def _next_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1
