"""What a command says, over the screen it was typed on: its lines as they come, then its end."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen

from cacheroute.console.cells import printable
from cacheroute_tui.command_run import Ended
from cacheroute_tui.widgets.lines import Lines, Span
from cacheroute_tui.widgets.pager import Pager

MAX_LINES = 20_000
Run = Callable[[Callable[[str], None]], Awaitable[Ended]]


class CommandOutput(ModalScreen[Sequence[str]]):
    """Runs a command when it is shown, and ends it when it is closed; hands back the lines."""

    DEFAULT_CSS = """
    CommandOutput { align: center middle; background: $background 60%; }
    CommandOutput > Vertical { width: 100%; height: 90%; background: $surface;
        border-top: solid $accent; border-bottom: solid $accent; }
    CommandOutput Lines { height: 1; }
    """
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("escape,q", "leave", "Close"),
        Binding("y,Y", "copy", "Copy"),
        Binding("w", "wrap", "Wrap"),
    ]
    AUTO_FOCUS = "Pager"

    def __init__(
        self,
        line: str,
        run: Run,
        *,
        copy: Callable[[str], object],
        ended: Callable[["CommandOutput", Ended], None] | None = None,
    ) -> None:
        super().__init__()
        self.line = line
        self._run = run
        self._copy = copy
        self._ended_call = ended
        self.output: list[str] = []
        self.ended: Ended | None = None
        self._is_due = False

    def compose(self) -> ComposeResult:
        """Make the lines."""
        with Vertical() as frame:
            frame.border_title = printable(f":{self.line}").replace("[", "\\[")
            yield Pager(id="output", empty_text="running …")
            yield Lines(id="output-end")

    def on_mount(self) -> None:
        """Run it."""
        self._tell()
        self.run_worker(self._whole(), exclusive=True, group="command")

    async def _whole(self) -> None:
        self.ended = await self._run(self._said)
        pager = self.query_one(Pager)
        if not self.output:
            pager.empty_text = "it says nothing"
        self._draw()
        self._tell()
        if self._ended_call is not None:
            self._ended_call(self, self.ended)

    def _said(self, line: str) -> None:
        if len(self.output) >= MAX_LINES:
            del self.output[: MAX_LINES // 10]
        self.output.append(line.replace("\t", "    "))
        if not self._is_due:
            self._is_due = True
            self.call_later(self._draw)

    def _draw(self) -> None:
        self._is_due = False
        if self.is_mounted:
            self.query_one(Pager).show(list(self.output), keeps_end=self.ended is None)

    def _tell(self) -> None:
        if self.ended is None:
            said = [Span(" running", "warn"), Span("   esc ends it")]
        else:
            code = self.ended.exit
            said = [Span(f" exit {code}", "good" if code == 0 else "bad")]
            if self.ended.is_cut:
                said.append(Span("   it said too much and was ended", "warn"))
            said.append(Span("   esc closes   y copies   w wraps"))
        self.query_one("#output-end", Lines).show([said])

    @property
    def text(self) -> str:
        """What it has said."""
        return "\n".join(self.output)

    def action_copy(self) -> None:
        """Copy what it has said."""
        self._copy(self.text)

    def action_wrap(self) -> None:
        """Break long lines, or not."""
        pager = self.query_one(Pager)
        pager.set_wrap(not pager.wraps)

    async def action_leave(self) -> None:
        """Close it; what still runs is ended."""
        self.workers.cancel_group(self, "command")
        await asyncio.sleep(0)
        self.dismiss(tuple(self.output))
