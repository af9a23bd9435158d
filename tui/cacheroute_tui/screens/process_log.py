"""The lines that processes wrote: the last ones, and those of them that are wanted.

A line is asked once whether it is wanted, when it comes: all that are kept, once a second, would
hold up the keys.
"""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cacheroute.console.cells import cells, pad, printable
from cacheroute.console.patterns import Expression
from cacheroute.console.rows.processes import ProcessRow
from cacheroute_cli.supervisor.log_lines import LogLine
from cacheroute_tui.widgets.lines import Span, TextLine
from cacheroute_tui.widgets.pager import MAX_LINE_CHARS

MAX_KEPT_LINES = 5_000
_NAME_CELLS = 16
_SGR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Painted:
    """A line as it is drawn."""

    line: LogLine
    spans: TextLine
    number: int = 0
    """Of all that were kept."""


class ProcessLog:
    """Keeps lines, the newest ones."""

    def __init__(self) -> None:
        self.only: ProcessRow | None = None
        """Whose lines alone are wanted."""
        self.grep: Expression | None = None
        """What is to be in them."""
        self._kept: deque[Painted] = deque(maxlen=MAX_KEPT_LINES)
        self._wanted: deque[Painted] = deque()
        self._count = 0

    @property
    def wanted(self) -> list[TextLine]:
        """The lines that are wanted, the oldest first."""
        return [one.spans for one in self._wanted]

    def keep(self, added: Iterable[Painted]) -> None:
        """Take new lines, and let go of as many old ones."""
        taken = [replace(one, number=at) for at, one in enumerate(added, self._count)]
        self._count += len(taken)
        self._kept.extend(taken)
        self._wanted.extend(filter(self._is_wanted, taken))
        while self._wanted and self._wanted[0].number < self._kept[0].number:
            self._wanted.popleft()

    def choose(self, *, only: ProcessRow | None, grep: Expression | None) -> None:
        """Ask all lines anew whether they are wanted."""
        self.only, self.grep = only, grep
        self._wanted = deque(filter(self._is_wanted, self._kept))

    def is_only(self, row: ProcessRow) -> bool:
        """Whether the lines of this process alone are wanted.

        It is known by where it writes: another stack may have one of its name, and it has another
        pid when it is started anew.
        """
        return self.only is not None and self.only.log == row.log

    def _is_wanted(self, one: Painted) -> bool:
        if self.only is not None and str(one.line.log) != self.only.log:
            return False
        return self.grep is None or self.grep.is_in(one.line.text)


def painted(lines: Sequence[LogLine]) -> list[Painted]:
    """Paint as many as are kept; of many logs that takes longer than a key may wait."""
    return [Painted(line, _spans(line)) for line in lines[-MAX_KEPT_LINES:]]


def _spans(line: LogLine) -> TextLine:
    at = f"{datetime.fromtimestamp(line.at_s).astimezone():%H:%M:%S}"
    name = pad(line.name, _NAME_CELLS) if cells(line.name) < _NAME_CELLS else line.name
    text = "    ".join(printable(part) for part in _SGR.sub("", line.text).split("\t"))
    return (Span(f"{at} ", "dim"), Span(f"{name} ", "accent"), Span(text[:MAX_LINE_CHARS]))
