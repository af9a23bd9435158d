"""Log lines on stdout: `name | line`, the line alone, or one JSON object each.

On a terminal names are coloured and control characters shown; in a pipe lines are as written.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from cacheroute.console.amounts import render_instant
from cacheroute.console.cells import pad, printable
from cacheroute.console.patterns import Expression
from cacheroute_cli.context import Context
from cacheroute_cli.output import (
    ReaderGone,
    document_text,
    is_colored,
    print_rows,
    stdout_is_terminal,
)
from cacheroute_cli.supervisor.log_lines import LogLine, Tail

SCHEMA = "cacheroute.log/1"
_COLORS = ("36", "33", "32", "35", "34", "96", "93", "92", "95", "94")
_POLL_S = 0.2
_BATCH = 512
_SGR = re.compile(r"\x1b\[[0-9;]*m")
_MAX_MATCHED_CHARS = 4096

Logs = Callable[[], Mapping[str, Path]]


class LogPrinter:
    """Prints lines of several logs."""

    def __init__(
        self,
        context: Context,
        logs: Logs,
        *,
        prefix: bool = True,
        grep: Expression | None = None,
    ) -> None:
        self._context = context
        self._logs = logs
        self._prefix = prefix
        self._grep = grep
        self._is_terminal = stdout_is_terminal()
        self._is_colored = is_colored(context.color)
        self._tails = {name: Tail(name, log) for name, log in logs().items()}

    def print(self, lines: Iterable[LogLine]) -> None:
        """Print lines as they come; raises ReaderGone."""
        batch: list[str] = []
        for line in lines:
            if self._is_asked_for(line):
                batch.append(self._written(line))
            if len(batch) >= _BATCH:
                print_rows(batch, as_ascii=self._context.ascii)
                batch.clear()
        if batch:
            print_rows(batch, as_ascii=self._context.ascii)

    def follow(self, until: threading.Event | None = None) -> None:
        """Print what is added to the logs, until told to end or nobody reads any more."""
        try:
            while until is None or not until.is_set():
                self.print(self._added())
                if until is None:
                    time.sleep(_POLL_S)
                else:
                    until.wait(_POLL_S)
            self.print(self._added())
        except ReaderGone:
            if until is None:
                raise

    def _added(self) -> Sequence[LogLine]:
        for name, log in self._logs().items():
            if name not in self._tails:
                self._tails[name] = Tail(name, log, from_start=True)
        now_s = time.time()
        return [line for tail in self._tails.values() for line in tail.look(now_s)]

    def _is_asked_for(self, line: LogLine) -> bool:
        return self._grep is None or self._grep.is_in(line.text[:_MAX_MATCHED_CHARS])

    def _written(self, line: LogLine) -> str:
        if self._context.as_json:
            at = render_instant(datetime.fromtimestamp(line.at_s, UTC))
            # The document was made when the line was, whenever we print it.
            return document_text(SCHEMA, {"generated_at": at, "name": line.name, "line": line.text})
        text = line.text
        if self._is_terminal:
            # Colours of others would run on, and their other sequences are not for our terminal.
            text = "\t".join(printable(part) for part in _SGR.sub("", text).split("\t"))
        if not self._prefix:
            return text
        name = pad(line.name, self._width)
        if self._is_colored:
            name = f"\x1b[{self._color(line.name)}m{name}\x1b[0m"
        return f"{name} | {text}"

    @property
    def _width(self) -> int:
        return max((len(name) for name in self._tails), default=0)

    def _color(self, name: str) -> str:
        return _COLORS[sorted(self._tails).index(name) % len(_COLORS)]
