"""One mapping of a stack file, read key by key; what nobody has read in the end is a mistake.

Wrong values are noted and read as absent, so that one look tells all that is to mend.
"""

import re
import signal
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from cacheroute_cli.config.places import expanded
from cacheroute_cli.stackfile.document import Entry
from cacheroute_cli.stackfile.tree import AUTO

T = TypeVar("T")

_COUNTED = re.compile(r"([0-9]{1,5})\+")
_PER = re.compile(r"([0-9]{1,6})\s*/\s*([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*s?")
_MAX_PORT = 65_535
_MAX_TEXT_CHARS = 4096


class Section:
    """Gives the values of a mapping, and remembers which were asked for."""

    def __init__(self, entry: Entry, *, file: str, problems: list[str]) -> None:
        self.file = file
        self.path = entry.path
        self.line = entry.line
        self._problems = problems
        self._known: set[str] = set()
        self._entries: Mapping[str, Entry] = {}
        if isinstance(entry.value, dict):
            self._entries = entry.value
        elif entry.value is not None:
            self.complain(entry, f"must hold keys and values, not {_shown(entry.value)}")

    def complain(self, entry: Entry, sentence: str) -> None:
        """Note what is wrong with a value, with its line."""
        name = entry.path or "the file"
        self._problems.append(f"{self.file}:{entry.key_line}: {name} {sentence}")

    def entry(self, key: str) -> Entry | None:
        """Return the value of a key as it stands there; None without the key or with a null."""
        self._known.add(key)
        entry = self._entries.get(key)
        return None if entry is None or entry.value is None else entry

    def has(self, key: str) -> bool:
        """Whether the key is there, with or without a value."""
        return key in self._entries

    def section(self, key: str) -> "Section | None":
        """Return a mapping below this one."""
        entry = self.entry(key)
        return None if entry is None else self.below(entry)

    def below(self, entry: Entry) -> "Section":
        """Read one of our entries as a mapping."""
        return Section(entry, file=self.file, problems=self._problems)

    def text(self, key: str) -> str | None:
        """Return a text; numbers are texts as well."""
        return self._read(key, _text, "a text")

    def whole(self, key: str, least: int, most: int) -> int | None:
        """Return a whole number of this range."""

        def read(value: object) -> int | None:
            return _whole(value, least, most)

        return self._read(key, read, f"a whole number from {least} to {most}")

    def number(self, key: str, least: float, most: float) -> float | None:
        """Return a number of this range."""
        return self._read(key, lambda value: _number(value, least, most), _range(least, most))

    def flag(self, key: str) -> bool | None:
        """Return true or false."""
        read = self._read(key, lambda v: v if isinstance(v, bool) else None, "true or false")
        return read if read is None else bool(read)

    def choice(self, key: str, choices: Sequence[str]) -> str | None:
        """Return one of these words; false and true stand for `no` and `yes`."""
        return self._read(
            key, lambda v: v if isinstance(v, str) and v in choices else None, _either(choices)
        )

    def port(self, key: str) -> int | str | None:
        """Return a port, or AUTO."""

        def read(value: object) -> int | str | None:
            if value == AUTO:
                return AUTO
            return _whole(value, 1, _MAX_PORT)

        return self._read(key, read, f"a port from 1 to {_MAX_PORT}, or {AUTO}")

    def first_port(self, key: str) -> int | str | None:
        """Return the first of counted ports, written `9001+`, or AUTO; a lone one counts too."""

        def read(value: object) -> int | str | None:
            if value == AUTO:
                return AUTO
            counted = _COUNTED.fullmatch(str(value))
            return _whole(int(counted[1]) if counted else value, 1, _MAX_PORT)

        return self._read(key, read, f"a port, the first of several as 9001+, or {AUTO}")

    def per_window(self, key: str) -> tuple[int, float] | None:
        """Return a count within seconds, written `5/60s`."""

        def read(value: object) -> tuple[int, float] | None:
            found = _PER.fullmatch(str(value))
            return (int(found[1]), float(found[2])) if found and float(found[2]) > 0 else None

        return self._read(key, read, "a number of restarts within seconds, such as 5/60s")

    def first_and_most(self, key: str, most: float) -> tuple[float, float] | None:
        """Return two numbers, the second no smaller, written `[1, 30]`."""

        def read(value: object) -> tuple[float, float] | None:
            if not isinstance(value, list) or len(value) != 2:
                return None
            first, last = (_number(inner.value, 0.0, most) for inner in value)
            return (
                (first, last) if first is not None and last is not None and first <= last else None
            )

        return self._read(key, read, "the first and the longest pause in seconds, such as [1, 30]")

    def signal(self, key: str) -> int | None:
        """Return the number of a signal, written `TERM`."""

        def read(value: object) -> int | None:
            name = str(value).upper().removeprefix("SIG")
            return next((s.value for s in signal.Signals if s.name == f"SIG{name}"), None)

        return self._read(key, read, "the name of a signal, such as TERM or INT")

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; one text alone is not taken for a list."""

        def read(value: object) -> tuple[str, ...] | None:
            if not isinstance(value, list):
                return None
            found = [_text(inner.value) for inner in value]
            return None if None in found else tuple(text for text in found if text is not None)

        return self._read(key, read, "a list of texts, such as [vllm, serve, MODEL]") or ()

    def pairs(self, key: str) -> dict[str, str]:
        """Return a mapping of texts; true, false and numbers are written as YAML writes them."""

        def read(value: object) -> dict[str, str] | None:
            if not isinstance(value, dict):
                return None
            found = {name: _scalar(inner.value) for name, inner in value.items()}
            return (
                None
                if None in found.values()
                else {n: v for n, v in found.items() if v is not None}
            )

        return self._read(key, read, "a mapping of names to plain values") or {}

    def path_of(self, key: str) -> Path | None:
        """Return a path; a relative one starts at the stack file, not at who reads it."""
        given = self.text(key)
        return None if given is None else (Path(self.file).parent / expanded(given)).absolute()

    def finish(self) -> None:
        """Complain about every key that nobody has asked for."""
        for key, entry in self._entries.items():
            if key in self._known:
                continue
            near = get_close_matches(key.replace("-", "_"), self._known, n=1)
            known = f"did you mean {near[0]}?" if near else f"known are {_listed(self._known)}"
            self.complain(entry, f"is unknown here; {known}")

    def _read(self, key: str, read: Callable[[object], T], wanted: str) -> T | None:
        entry = self.entry(key)
        if entry is None:
            return None
        value = read(entry.value)
        if value is None:
            self.complain(entry, f"must be {wanted}, not {_shown(entry.value)}")
        return value


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    return text if 0 < len(text) <= _MAX_TEXT_CHARS and "\0" not in text else None


def _scalar(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value == "" else _text(value)


def _whole(value: object, least: int, most: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if least <= value <= most else None


def _number(value: object, least: float, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if least <= value <= most else None


def _range(least: float, most: float) -> str:
    return f"a number from {least:g} to {most:g}"


def _either(words: Sequence[str]) -> str:
    return " or ".join(words)


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words))


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:59] + "…"
