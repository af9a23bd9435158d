"""The line behind the colon: what is typed, what may be meant, and what was typed before."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Static

from cacheroute.console.cells import printable
from cacheroute_tui.command_completing import common_start

if TYPE_CHECKING:
    from cacheroute_tui.app import ConsoleApp

MAX_LINE_CHARS = 2_000
_HINT = "↑↓ history  tab complete  esc cancel"


class CommandLine(Horizontal):
    """One line above the footer; there only while it is used."""

    DEFAULT_CSS = """
    CommandLine { height: 1; display: none; background: $bar; }
    CommandLine .command-sign { width: 1; color: $accent; }
    CommandLine Input { width: 1fr; height: 1; border: none; padding: 0; background: $bar; }
    CommandLine .command-told { width: auto; max-width: 60%; height: 1; color: $secondary; }
    """
    BINDINGS: ClassVar[list[Binding]] = [  # type: ignore[assignment]
        Binding("escape", "leave", show=False, priority=True),
        Binding("tab", "complete", show=False, priority=True),
        Binding("up", "earlier(-1)", show=False, priority=True),
        Binding("down", "earlier(1)", show=False, priority=True),
        # Before the field has it: what that sends would come behind the next key.
        Binding("enter", "enter", show=False, priority=True),
    ]

    @dataclass
    class Entered(Message):
        """A line is to be run."""

        text: str

    def __init__(self, *, id: str) -> None:  # noqa: A002 - the toolkit's name
        super().__init__(id=id)
        self._at: int | None = None
        """Which line of the history is shown; None is what was typed."""
        self._typed = ""

    @property
    def console(self) -> ConsoleApp:
        """The app."""
        return cast("ConsoleApp", self.app)

    def compose(self) -> ComposeResult:
        """Make the field."""
        yield Static(":", classes="command-sign", markup=False)
        yield Input(
            compact=True, select_on_focus=False, max_length=MAX_LINE_CHARS,
            suggester=_Suggesting(self),
        )  # fmt: skip
        yield Static(_HINT, classes="command-told", markup=False)

    @property
    def field(self) -> Input:
        """Where it is typed."""
        return self.query_one(Input)

    def open(self, text: str = "") -> None:
        """Show it with a text and give it the focus."""
        self.display = True
        self._at, self._typed = None, text
        self.tell(_HINT)
        self._put(text)
        # At once: the next key may be here already.
        self.screen.set_focus(self.field)

    def tell(self, text: str) -> None:
        """Say something at its right."""
        self.query_one(".command-told", Static).update(f" {printable(text)}")

    def action_enter(self) -> None:
        """Hand the line on."""
        typed = self.field.value
        self._close()
        if typed.strip():
            self.post_message(self.Entered(typed))

    def action_leave(self) -> None:
        """Run nothing."""
        self._close()

    def _close(self) -> None:
        self.display = False
        self.console.give_focus_back()

    def action_earlier(self, step: int) -> None:
        """Take a line of the history that begins as what was typed."""
        if self._at is None:
            self._typed = self.field.value
        lines = [one for one in self.console.command_history.lines if one.startswith(self._typed)]
        at = (len(lines) if self._at is None else self._at) + step
        if at >= len(lines):
            self._at = None
            self._put(self._typed)
        elif at >= 0:
            self._at = at
            self._put(lines[at])

    async def action_complete(self) -> None:
        """Complete the last word as far as that is certain, and say what it may be."""
        typed = self.field.value
        found = await self.console.completions(typed)
        if self.field.value != typed:
            return
        if len(found) == 1:
            self._put(found[0] + " ")
            self.tell("")
            return
        start = common_start(found)
        if len(start) > len(typed):
            self._put(start)
        head = typed.rfind(" ") + 1
        self.tell("  ".join(line[head:] for line in found[:20]) or "nothing is called so")

    def _put(self, text: str) -> None:
        self.field.value = text
        self.field.cursor_position = len(text)


class _Suggesting(Suggester):
    """Shows in grey what the line may become: one typed before, or the only thing it can be."""

    def __init__(self, line: CommandLine) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._line = line

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole line."""
        console = self._line.console
        before = console.command_history.suggested(value)
        if before is not None and before != value:
            return before
        await asyncio.sleep(0)
        found = await console.completions(value)
        return found[0] if found and found[0] != value else None
