"""A console whose clipboard, toasts and changes can be read: for tests of what it does."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot

from cacheroute.client.faults import ReadOnly
from cacheroute.console.rows.processes import ProcessRow
from cacheroute.console.source import Source
from cacheroute.wire.admin import ChangeBody, ChangeReply, ChangeRow, ConditionRow, DrainBody
from cacheroute_cli.supervisor.log_lines import LogLine
from cacheroute_cli.supervisor.messages import Do
from cacheroute_tui import frame
from cacheroute_tui.app import ConsoleApp
from cacheroute_tui.clipboard import Copied
from cacheroute_tui.command_history import CommandHistory
from cacheroute_tui.local_processes import ProcessTrouble
from cacheroute_tui.options import Target
from cacheroute_tui.widgets.vtable import VTable
from tests.support.waiting import eventually
from tests.tui.showing import console, settle


async def until(pilot: Pilot[int], holds: Callable[[], object]) -> None:
    """Wait for what a process or a thread has to bring, and until it is drawn."""
    await eventually(holds, within_s=60.0, every_s=0.01)
    await settle(pilot)


async def until_shown(pilot: Pilot[int], text: str) -> None:
    """Wait until the terminal shows a text."""
    await until(pilot, lambda: text in frame.text_of(pilot.app.screen))


async def at(pilot: Pilot[int], row_id: str) -> None:
    """Put the cursor of the screen's table on a row."""
    table: VTable[object] = pilot.app.screen.query_one("#rows", VTable)
    assert table.move_to_id(row_id)
    await settle(pilot)


class KeptClipboard:
    """Keeps what was copied."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def copy(self, text: str) -> Copied:
        """Keep it."""
        self.texts.append(text)
        return Copied(method="osc52", size_bytes=len(text.encode()))


class KeptOperator:
    """Answers changes as a Proxy with three more Instances, and keeps them."""

    def __init__(self, *, may_write: bool = True) -> None:
        self.may_write = may_write
        self.made: list[tuple[str, tuple[str, ...]]] = []
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.is_closed = False

    async def drain(self, body: DrainBody) -> ChangeReply:
        """Drain, or say what that would do."""
        return self._answered("drain", body)

    async def undrain(self, body: ChangeBody) -> ChangeReply:
        """Undrain, or say what that would do."""
        return self._answered("undrain", body)

    async def close(self) -> None:
        """Note it."""
        self.is_closed = True

    def _answered(self, verb: str, body: ChangeBody) -> ChangeReply:
        if not self.may_write:
            raise ReadOnly(url="http://127.0.0.1:8002/v1/admin/instance/drain")
        (self.asked if body.dry_run else self.made).append((verb, tuple(body.instance_ids)))
        alive = ConditionRow(state="alive", draining=verb == "undrain")
        drained = ConditionRow(state="alive", draining=verb == "drain")
        return ChangeReply(
            ok=True, verb=verb, dry_run=body.dry_run, kept=True,
            changes=[
                ChangeRow(instance_id=one, changed=True, before=alive, after=drained, inflight=4,
                          waiting=0)
                for one in body.instance_ids
            ],
            left_count=3, left_ids=["a", "b", "c"], left_resting=0, left_without=[],
        )  # fmt: skip


class KeptProcesses:
    """Processes that are as they were made."""

    def __init__(self, rows: Sequence[ProcessRow] = (), lines: Sequence[LogLine] = ()) -> None:
        self.found = rows
        self.lines = list(lines)
        self.changes: list[tuple[str, str]] = []
        self.trouble: str | None = None
        self.asked = 0
        """How often for all of them."""
        self.heard: Collection[str] | None = None
        """The stacks whose changes somebody waits for."""
        self.changed: Callable[[], None] = lambda: None
        self.supervisor_ends = asyncio.Event()

    async def watch(self, stacks: Collection[str], changed: Callable[[], None]) -> None:
        """Keep whom to tell, until the supervisor ends."""
        self.heard, self.changed = stacks, changed
        try:
            await self.supervisor_ends.wait()
        finally:
            self.heard = None

    def rows(self) -> Sequence[ProcessRow]:
        """Return them."""
        self.asked += 1
        if self.trouble is not None:
            raise ProcessTrouble(self.trouble)
        return self.found

    def added(self, logs: Mapping[Path, str]) -> Sequence[LogLine]:
        """Return what was not returned yet."""
        lines, self.lines = self.lines, []
        log_of = {name: log for log, name in logs.items()}
        return [line if line.log else replace(line, log=log_of.get(line.name)) for line in lines]

    def change(self, do: Do, row: ProcessRow) -> str:
        """Keep it."""
        self.changes.append((do, row.name))
        return f"{row.name}: {do}"


class Operated:
    """The console, and what was seen of it."""

    def __init__(
        self, folder: Path, source: Source | None = None, *, screen: str = "instances",
        write: bool = False, ascii: bool = False, label: str | None = None,  # noqa: A002
    ) -> None:  # fmt: skip
        self.app: ConsoleApp = console(source, screen=screen, write=write, ascii=ascii)
        if label is not None:
            self.app.target = Target(proxy_url="http://127.0.0.1:8002", name="lab", label=label)
        self.clipboard = KeptClipboard()
        self.operator = KeptOperator(may_write=write)
        self.processes = KeptProcesses()
        self.said: list[str] = []
        self.opened: list[bool] = []
        app = self.app
        app.clipboard_kept = self.clipboard
        app.processes = self.processes
        app.command_history = CommandHistory(folder / "console-history")
        app.open_operator = self._open
        app.notify = self._notify  # type: ignore[method-assign]

    def _open(self, target: Target, may_write: bool) -> KeptOperator:
        self.opened.append(may_write)
        return self.operator

    def _notify(self, message: str, **_: object) -> None:
        self.said.append(message)
