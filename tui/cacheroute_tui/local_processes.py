"""What runs on this host: the processes of every stack, their logs, and a word with a supervisor.

Everything here may wait for a file or a socket, so a screen calls it in a thread; only the watch
is awaited.
"""

import asyncio
import bisect
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from cacheroute.console.rows.processes import ProcessRow
from cacheroute_cli.diagnostics import Fault
from cacheroute_cli.process_rows import rows_of_all
from cacheroute_cli.supervisor.asking import ask, connected
from cacheroute_cli.supervisor.log_files import read_times
from cacheroute_cli.supervisor.log_lines import LogLine, Tail
from cacheroute_cli.supervisor.messages import MAX_LINE_BYTES, Do, Request, encode
from cacheroute_cli.supervisor.stack_home import StackHome

FIRST_LINES = 200
"""Of each log, to begin with."""
_FIRST_BYTES = 64 * 1024
_MAX_LOGS = 300


class ProcessTrouble(Exception):
    """Something here cannot be told or done; the message is a sentence for people."""


class Processes(Protocol):
    """Whoever knows the processes of a host."""

    def rows(self) -> Sequence[ProcessRow]:
        """Return all of them; raises ProcessTrouble."""
        ...

    async def watch(self, stacks: Collection[str], changed: Callable[[], None]) -> None:
        """Call at every change in these stacks; ends when one of them can be heard no longer."""
        ...

    def added(self, logs: Mapping[Path, str]) -> Sequence[LogLine]:
        """Return what was written to these logs since the last call, in the order of time.

        Two stacks may have processes of one name, so each name is by its path.
        """
        ...

    def change(self, do: Do, row: ProcessRow) -> str:
        """Start, stop or restart one; returns what came of it. Raises ProcessTrouble."""
        ...


class LocalProcesses:
    """Those of this host."""

    def __init__(self) -> None:
        self._tails: dict[Path, Tail] = {}

    def rows(self) -> Sequence[ProcessRow]:
        """Return the processes of every stack, then those that were started by hand."""
        try:
            return rows_of_all()
        except Fault as fault:
            raise ProcessTrouble(fault.message) from None
        except OSError as problem:
            raise ProcessTrouble(f"the state folder cannot be read ({problem.strerror})") from None

    async def watch(self, stacks: Collection[str], changed: Callable[[], None]) -> None:
        """Hear the supervisors of these stacks, and call at every change."""
        hearing = {asyncio.ensure_future(_heard(StackHome(name), changed)) for name in stacks}
        if not hearing:
            return
        try:
            await asyncio.wait(hearing, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in hearing:
                one.cancel()
            await asyncio.gather(*hearing, return_exceptions=True)

    def added(self, logs: Mapping[Path, str]) -> Sequence[LogLine]:
        """Return new lines of these logs; of one not seen before, its last."""
        now_s = time.time()
        found: list[LogLine] = []
        self._tails = {path: tail for path, tail in self._tails.items() if path in logs}
        for path, name in list(logs.items())[:_MAX_LOGS]:
            tail = self._tails.get(path)
            if tail is None:
                self._tails[path] = Tail(name, path)
                found += last_lines(name, path)
            else:
                found += tail.look(now_s)
        return sorted(found, key=lambda line: line.at_s)

    def change(self, do: Do, row: ProcessRow) -> str:
        """Ask the supervisor of its stack."""
        if row.stack is None:
            raise ProcessTrouble(f"{row.name} was started by hand: no supervisor looks after it")
        told: list[str] = []
        try:
            ask(StackHome(row.stack), Request(do=do, names=(row.name,)), told.append)
        except Fault as fault:
            raise ProcessTrouble(fault.message) from None
        return told[-1] if told else f"{do} {row.name}: done"


async def _heard(home: StackHome, changed: Callable[[], None]) -> None:
    """Hear one supervisor until it leaves; that there is none is an end as well."""
    try:
        reader, writer = await asyncio.open_unix_connection(
            sock=await asyncio.to_thread(connected, home), limit=MAX_LINE_BYTES
        )
    except (Fault, OSError):
        return
    try:
        writer.write(encode(Request(do="watch")))
        while await reader.readline():
            changed()
    except (OSError, ValueError):
        pass  # it has left, or says what no supervisor of this version says
    finally:
        writer.close()


def last_lines(name: str, path: Path) -> list[LogLine]:
    """Return the last lines of a log, each with the time at which it came, as far as is known."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            begin = max(0, size - _FIRST_BYTES)
            file.seek(begin)
            raw = file.read(_FIRST_BYTES)
        written_s = path.stat().st_mtime
    except OSError:
        return []
    times = read_times(path)
    sizes = [each for _, each in times]
    end = begin
    found = []
    for line in raw.splitlines(keepends=True):
        end += len(line)
        at = bisect.bisect_left(sizes, end)
        text = line.rstrip(b"\r\n").decode("utf-8", "replace")
        at_s = times[at][0] if at < len(times) else written_s
        found.append(LogLine(at_s=at_s, name=name, text=text, log=path))
    # What the first bytes belong to began before.
    return found[bool(begin) :][-FIRST_LINES:]
