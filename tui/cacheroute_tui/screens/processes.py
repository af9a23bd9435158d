"""The screen of processes: what runs on this host, and what all of it writes, merged by time.

The log has no borders at its sides, so that what a terminal selects is the log alone.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from textual import work
from textual.app import ComposeResult

from cacheroute.console.cells import cells
from cacheroute.console.patterns import Expression, search_pattern
from cacheroute.console.rows.processes import PROCESSES, ProcessRow
from cacheroute.console.store import Seen, Snapshot
from cacheroute_cli.supervisor.messages import Do
from cacheroute_tui.keymap import LISTING, Key
from cacheroute_tui.local_processes import ProcessTrouble
from cacheroute_tui.screens.listing import ListScreen
from cacheroute_tui.screens.process_log import Painted, ProcessLog, painted
from cacheroute_tui.terminal_programs import read_in_pager
from cacheroute_tui.widgets.confirm import Confirm
from cacheroute_tui.widgets.lines import Lines, Span
from cacheroute_tui.widgets.pager import Pager
from cacheroute_tui.widgets.text_field import TextField

MEASURED_EVERY = 5
"""Seconds between two looks at processes whose changes are told: only their use is not."""
_CHANGES_APART_S = 0.9
"""Shortest time between two looks at what changes, so that whoever restarts costs no more."""
_UNSUPERVISED = ("orphan", "gone")
_NONE = "no stack runs on this host, and nothing that was started by hand"
_NONE_MORE = "'cacheroute up -d' starts one, and its logs stand here; a demo keeps its own"
_READ_ONLY = "read-only: to {} processes takes a console with --write, live and in a terminal"
_EFFECTS = {
    "start": "It starts as the stack says, and the supervisor looks after it.",
    "stop": "Running requests get the time to end, and it stays stopped until it is started.",
    "restart": "It ends as with stop, and starts anew.",
}


class Processes(ListScreen[ProcessRow]):
    """Processes and logs."""

    NAME, TITLE, NUMBER, SHORT = "processes", "Processes", 8, "Proc"
    KIND = PROCESSES
    USUAL = ("stack", "As their stack lists them, then those that were started by hand.")
    DEFAULT_CSS = """
    Processes #rows { height: 40%; }
    Processes #log-head { height: 1; }
    """
    KEYS = (
        *(key for key in LISTING if key.id != "wide"),
        Key(id="log.grep", label="Grep log", action="grep", rank=4, shown="&",
            doc="Show only lines of the log that match an expression."),
        Key(id="log.wrap", label="Wrap", action="wrap", rank=6,
            doc="Break long lines of the log, or let them run out of sight."),
        Key(id="log.hold", label="Hold log", action="hold", rank=6,
            doc="Hold the log while the rest goes on, or follow it again."),
        Key(id="log.one", label="This log", action="one_log", rank=4,
            doc="Show the log of the process under the cursor alone, or all again."),
        Key(id="log.pager", label="Pager", action="pager", rank=7,
            doc="Read the log in $PAGER."),
        Key(id="log.focus", label="Log", action="other_pane", rank=9,
            doc="Go from the processes to the log, or back."),
        Key(id="processes.start", label="Start", action="change('start')", rank=5,
            writes=True, doc="Start the process under the cursor."),
        Key(id="processes.stop", label="Stop", action="change('stop')", rank=5,
            writes=True, doc="Stop the process under the cursor."),
        Key(id="processes.restart", label="Restart", action="change('restart')",
            writes=True, doc="Stop the process under the cursor and start it anew."),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._processes: Sequence[ProcessRow] = ()
        self._trouble: str | None = None
        self._asked = False
        self._asked_at_s = 0.0
        self._is_due = False
        self._is_outdated = False
        self._ticks = 0
        self._heard: frozenset[str] = frozenset()
        """Stacks whose supervisors tell of changes."""
        self._log = ProcessLog()
        self.grep_text = ""
        self.is_held = False
        self.held_back = 0

    def body(self) -> ComposeResult:
        """Make the table and the log."""
        yield self.make_table()
        yield Lines(id="log-head")
        yield Pager(id="log", empty_text="no line of a log")

    def bottom(self) -> ComposeResult:
        """Make the fields."""
        yield TextField("&", id="grep")
        yield from super().bottom()

    # -- what is here --------------------------------------------------------------------

    def on_screen_resume(self) -> None:
        """Look at once."""
        super().on_screen_resume()
        self._look()

    def on_screen_suspend(self) -> None:
        """Hear of nothing while it is not to be seen."""
        self.workers.cancel_group(self, "watch")
        self._heard = frozenset()

    def tick(self) -> None:
        """Read the logs, and the processes where no supervisor tells of changes."""
        self._ticks += 1
        if not self.console.is_paused:
            is_due = self._is_due or not self._heard or self._ticks % MEASURED_EVERY == 0
            self._look(rows=is_due)

    def _changed(self) -> None:
        """Look at what a supervisor has told of; what follows within a second waits for the tick.

        The logs do as well: they are read once a second.
        """
        if self.now() - self._asked_at_s < _CHANGES_APART_S:
            self._is_due = True
        elif not self.console.is_paused:
            self._look(logs=False)

    @work(exclusive=False, group="processes")
    async def _look(self, *, rows: bool = True, logs: bool = True) -> None:
        if self._asked:
            # What changes meanwhile may not be in the answer.
            self._is_outdated = self._is_outdated or rows
            return
        self._asked = True
        desk, had_some = self.console.processes, bool(self._processes)
        added: Sequence[Painted] = ()
        try:
            if rows:
                self._asked_at_s, self._is_due = self.now(), False
                self._processes = await asyncio.to_thread(desk.rows)
                self._trouble = None
            if logs:
                paths = {Path(row.log): row.name for row in self._processes if row.log}
                added = await asyncio.to_thread(lambda: painted(desk.added(paths)))
        except ProcessTrouble as trouble:
            self._trouble = str(trouble)
        finally:
            self._asked = False
        if not (self.is_mounted and self.query("#rows") and self.query("#log")):
            # It is being taken apart, and has lost some of its widgets already.
            return
        self._log.keep(added)
        if self.is_held:
            self.held_back += len(added)
        if rows or self._trouble:
            self._show_rows()
        if (added or had_some != bool(self._processes)) and not self.is_held:
            self._show_log()
        self._show_head()
        if self.is_current:
            self._hear()
            if self._is_outdated:
                self._is_outdated = False
                self._look(logs=False)

    def _hear(self) -> None:
        """Let the supervisors of what is shown tell of changes."""
        stacks = frozenset(
            row.stack for row in self._processes
            if row.stack is not None and row.state not in _UNSUPERVISED
        )  # fmt: skip
        if stacks != self._heard:
            self._heard = stacks
            self._watch(stacks)

    @work(exclusive=True, group="watch")
    async def _watch(self, stacks: frozenset[str]) -> None:
        await self.console.processes.watch(stacks, self._changed)
        self._heard = frozenset()

    def rows_of(self, look: Seen) -> Sequence[ProcessRow]:  # noqa: ARG002 - they are of this host
        """Return the processes."""
        return self._processes

    def is_alive(self, row: ProcessRow) -> bool:
        """Whether it runs, or should."""
        return row.state not in ("stopped", "exited", "gone")

    def is_faulty(self, row: ProcessRow) -> bool:
        """Whether it failed, or is not ready."""
        return row.state in ("failed", "orphan", "gone", "backoff") or row.ready is False

    def id_of(self, row: ProcessRow) -> str:
        """Return its name, with the stack and the kind: two may have a process of one name."""
        return f"{row.stack or ''}/{row.kind}/{row.name}"

    def draw(self, snapshot: Snapshot) -> None:  # noqa: ARG002 - a Proxy knows nothing of them
        """Draw what was found here, where that is not drawn yet: no look tells anything of it."""
        if (self.shape, self.is_tall) != self._shape_laid:
            self._show_rows()
            if not self.is_held:
                self._show_log()
            self._show_head()

    def redraw(self) -> None:
        """Draw all of it again."""
        self._shape_laid = None
        super().redraw()

    def _show_rows(self) -> None:
        table = self.table
        shape = (self.shape, self.is_tall)
        if shape != self._shape_laid:
            self._shape_laid = shape
            table.take_columns(self.columns())
        table.empty_text = self._trouble or (self.empty_text(self._processes))
        table.show_rows(self._processes)

    def empty_text(self, rows: Sequence[ProcessRow]) -> str:
        """Say honestly that there is nothing here."""
        return super().empty_text(rows) if rows else _NONE

    def _show_log(self) -> None:
        pager = self.query_one("#log", Pager)
        pager.empty_text = "no line of a log" if self._processes else _NONE_MORE
        pager.show(self._log.wanted, keeps_end=True)

    def _choose(self, *, only: ProcessRow | None, grep: Expression | None) -> None:
        self._log.choose(only=only, grep=grep)
        self._show_log()
        self._show_head()

    def _show_head(self) -> None:
        pager = self.query_one("#log", Pager)
        only = self._log.only
        parts = [Span("── log of "), Span("all" if only is None else only.name, "accent")]
        parts.append(Span(f" · {pager.count:,} lines"))
        if self.grep_text:
            parts.append(Span(f" · /{self.grep_text[:40]}/", "accent"))
        if pager.wraps:
            parts.append(Span(" · wrapped"))
        if self.is_held:
            parts.append(Span(f" · held, {self.held_back:,} more", "warn"))
        used = sum(cells(part.text) for part in parts)
        parts.append(Span(" " + "─" * max(0, self.app.size.width - used - 1)))
        self.query_one("#log-head", Lines).show([parts])

    # -- keys ----------------------------------------------------------------------------

    def action_grep(self) -> None:
        """Type an expression for the log."""
        self.query_one("#grep", TextField).open(self.grep_text)

    def on_text_field_changed(self, message: TextField.Changed) -> None:
        """Show what matches while it is typed."""
        try:
            grep = search_pattern(message.text)
        except ValueError as problem:
            message.field.tell(str(problem))
            return
        message.field.tell("")
        self.grep_text = message.text
        self._choose(only=self._log.only, grep=grep)

    def on_text_field_closed(self) -> None:
        """Give the focus back to the log."""
        self.set_focus(self.query_one("#log", Pager))

    def action_wrap(self) -> None:
        """Break long lines, or not."""
        pager = self.query_one("#log", Pager)
        pager.set_wrap(not pager.wraps)
        self._show_head()

    def action_hold(self) -> None:
        """Hold the log, or follow it again."""
        self.is_held, self.held_back = not self.is_held, 0
        if not self.is_held:
            self._show_log()
        self._show_head()

    def action_one_log(self) -> None:
        """Show the log of one process, or all."""
        row = self.table.cursor_row
        if row is not None:
            only = None if self._log.is_only(row) else row
            self._choose(only=only, grep=self._log.grep)

    def opened(self, row_id: str) -> None:  # noqa: ARG002 - it is the row under the cursor
        """Show its log alone."""
        self.action_one_log()

    def action_other_pane(self) -> None:
        """Go to the log, or back."""
        log = self.query_one("#log", Pager)
        self.set_focus(self.table if self.focused is log else log)

    def action_pager(self) -> None:
        """Read what is shown in the reader's own pager."""
        row = self.table.cursor_row
        if row is not None and row.log and self._log.is_only(row):
            self._read(Path(row.log))
            return
        # Whoever cannot read it now is told nothing more than why: the text is still on the screen.
        with tempfile.NamedTemporaryFile(
            "w", prefix="cacheroute-log-", suffix=".txt", encoding="utf-8"
        ) as file:
            file.write(self.query_one("#log", Pager).text + "\n")
            file.flush()
            self._read(Path(file.name))

    def _read(self, path: Path) -> None:
        trouble = read_in_pager(self.console, path)
        if trouble is not None:
            self.notify(trouble, severity="warning", markup=False)

    def selected_id(self) -> str | None:
        """Return the name of the process under the cursor."""
        row = self.table.cursor_row
        return None if row is None else row.name

    def selected_json(self) -> object | None:
        """Return the process under the cursor."""
        return self.table.cursor_row

    # -- changes -------------------------------------------------------------------------

    def action_change(self, do: Do) -> None:
        """Ask whether to start, stop or restart the process under the cursor."""
        row = self.table.cursor_row
        if not self.console.may_write_here:
            self.notify(_READ_ONLY.format(do), severity="warning", markup=False)
            return
        if row is None:
            return
        where = f"stack {row.stack}" if row.stack else "started by hand"
        pid = "" if row.pid is None else f", pid {row.pid}"
        effect = f"{do} {row.name} ({where}, {row.state}{pid}). {_EFFECTS[do]}"

        def answered(is_yes: bool | None) -> None:
            if is_yes:
                self._change(do, row)

        self.app.push_screen(Confirm(f"{do} a process", effect), answered)

    @work(group="process-change")
    async def _change(self, do: Do, row: ProcessRow) -> None:
        self.notify(f"{do} {row.name} …", markup=False, timeout=3)
        try:
            told = await asyncio.to_thread(self.console.processes.change, do, row)
        except ProcessTrouble as trouble:
            self.notify(str(trouble), severity="error", markup=False)
            return
        self.notify(told, markup=False)
        self._look()
