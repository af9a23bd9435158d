"""What the console can do beside showing: the command line, copying, and changes at the Proxy.

The app is this mixin and the frame; every action here acts on what the visible screen selects.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from textual.widget import Widget

from cacheroute.console.amounts import render_instant
from cacheroute_cli.supervisor.state import state_root
from cacheroute_tui.clipboard import Clipboard, TerminalClipboard
from cacheroute_tui.command_completing import completions
from cacheroute_tui.command_history import CommandHistory
from cacheroute_tui.command_run import NEEDS_YES, Ended, environment, run
from cacheroute_tui.command_words import Command, Refusal, judge
from cacheroute_tui.local_processes import LocalProcesses, Processes
from cacheroute_tui.operating_changes import Changing
from cacheroute_tui.operating_keys import OPERATING_KEYS
from cacheroute_tui.options import MAX_INTERVAL_S, MIN_INTERVAL_S
from cacheroute_tui.screens.command_output import CommandOutput
from cacheroute_tui.terminal_programs import surroundings
from cacheroute_tui.widgets.command_line import CommandLine

__all__ = ["OPERATING_KEYS", "Operating"]

_LEAVE = frozenset(("exit", "quit", "q"))
_HELP = frozenset(("help", "?"))
OWN_WORDS = ("quit",)
"""Words of the line that only the console knows, beside the names of its screens."""


class Operating(Changing):
    """Actions of the app that are not about the frame."""

    _tree: Mapping[str, Any] | None = None

    @cached_property
    def clipboard_kept(self) -> Clipboard:
        """Where copied text goes."""
        mode = "osc52" if self.is_web else self._me.options.clipboard
        return TerminalClipboard(mode, self.copy_to_clipboard, environ=surroundings())

    @cached_property
    def processes(self) -> Processes:
        """Who knows what runs on this host."""
        return LocalProcesses()

    @cached_property
    def command_history(self) -> CommandHistory:
        """The lines that were typed before."""
        return CommandHistory(None if self.is_web else state_root() / "console-history")

    def _set_interval(self, interval_s: float) -> None:
        """Look so often from now on; the frame does it."""
        raise NotImplementedError

    @property
    def may_write_here(self) -> bool:
        """Whether processes of this host may be started and stopped from here."""
        return self._me.may_write and not self.is_web

    def command_line(self) -> Iterable[Widget]:
        """Make the line for commands, at the bottom of each screen."""
        yield CommandLine(id="command-line")

    def give_focus_back(self) -> None:
        """Give the focus to the body of the visible screen."""
        if self._me.front is not None:
            self._me.front.focus_body()

    # -- copying -------------------------------------------------------------------------

    def action_copy_id(self) -> None:
        """Copy the names of what is selected, one a line."""
        screen = self._me.front
        names = () if screen is None else screen.selected_ids()
        if names:
            self.keep("\n".join(names))
        else:
            self._say("nothing is selected", is_bad=True)

    def action_copy_json(self) -> None:
        """Copy what is selected as a document, or the text that is shown."""
        screen = self._me.front
        text = getattr(screen, "selected_text", lambda: None)()
        if text is None:
            document = None if screen is None else screen.selected_json()
            text = None if document is None else json_of(document)
        if text is None:
            self._say("nothing is selected", is_bad=True)
        else:
            self.keep(text)

    def keep(self, text: str) -> None:
        """Put a text where it can be pasted from, and say where that is."""

        async def kept() -> None:
            try:
                copied = await self.clipboard_kept.copy(text)
            except OSError as problem:
                self._say(f"it could not be kept ({problem.strerror})", is_bad=True)
            else:
                self._say(copied.told)

        self.run_worker(kept(), group="copy")

    def action_picture(self) -> None:
        """Keep a picture of the screen."""
        folder = state_root() / "pictures"
        name = f"cacheroute-{datetime.now().astimezone():%Y%m%d-%H%M%S}.svg"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / name).write_text(self.export_screenshot(), encoding="utf-8")
        except OSError as problem:
            self._say(f"the picture could not be kept ({problem.strerror})", is_bad=True)
        else:
            self._say(f"the picture is {folder / name}")

    # -- commands ------------------------------------------------------------------------

    def action_command(self) -> None:
        """Type a command."""
        self.open_command("")

    def open_command(self, text: str) -> None:
        """Show the line with a text."""
        screen = self._me.front
        if screen is not None:
            screen.query_one(CommandLine).open(text)

    async def completions(self, typed: str) -> list[str]:
        """Return what a line may become; never fails."""
        try:
            known = await self.known_commands()
            look = self._me.shown.look
            ids = [] if look is None else sorted(look.row_of)
            own = (*OWN_WORDS, *(one.NAME for one in self._me.screens_in_order()))
            return completions(typed, known, ids=ids, own=own)
        except Exception:
            # A line is for typing; what cannot be completed is typed out.
            return []

    async def known_commands(self) -> Mapping[str, Any]:
        """Return the tree of all commands; the first time it may have to be made."""
        if self._tree is None:
            from cacheroute_cli.completing.tree import load

            self._tree = await asyncio.to_thread(load, state_root() / "completion")
        return self._tree

    def on_command_line_entered(self, message: CommandLine.Entered) -> None:
        """Run what was typed."""
        self.command_history.add(message.text)
        self.run_line(message.text)

    def run_line(self, line: str) -> None:
        """Run a command line as the shell would."""
        self.run_worker(self._line(line), group="line")

    async def _line(self, line: str) -> None:
        from cacheroute_cli.repl import Left, words_of

        try:
            words = words_of(line)
        except ValueError as problem:
            self._say(str(problem).lower(), is_bad=True)
            return
        except Left:
            self.exit(0)
            return
        if not words or self._is_own(words):
            return
        known = await self.known_commands()
        verdict = judge(
            words,
            known["tree"],
            may_write=self._me.may_write,
            is_web=self.is_web,
            has_proxy=self._me.source.kind == "live",
        )
        if isinstance(verdict, Refusal):
            self._say(verdict.why, is_bad=True)
        else:
            self._run(line.strip().removeprefix(":"), verdict, verdict.words)

    def _is_own(self, words: Sequence[str]) -> bool:
        """Do what only the console can; returns whether it was that."""
        first, alone = words[0], len(words) == 1
        if alone and first in _LEAVE:
            self.exit(0)
        elif alone and first in _HELP:
            self.call_later(self.run_action, "help")
        elif alone and first in {one.NAME for one in self._me.screens_in_order()}:
            self.switch_mode(first)
        elif first == "watch" and (seconds := _interval_of(words[1:])) is not None:
            self._set_interval(min(max(seconds, MIN_INTERVAL_S), MAX_INTERVAL_S))
        else:
            return False
        return True

    def _run(self, line: str, command: Command, words: Sequence[str]) -> None:
        surroundings = environment(
            self._me.target, may_write=self._me.may_write, width=self.size.width - 2
        )

        async def running(told: Callable[[str], None]) -> Ended:
            return await run(words, surroundings, told)

        def ended(output: CommandOutput, _: Ended) -> None:
            self._me.feed.look_now()
            effect = _asked_for_yes(output.output)
            if command.takes_yes and effect is not None and self._me.may_write:
                output.dismiss(())
                self.run_worker(self._run_confirmed(line, command, effect), group="line")

        self.push_screen(CommandOutput(line, running, copy=self.keep, ended=ended))

    async def _run_confirmed(self, line: str, command: Command, effect: str) -> None:
        ids = _of_effect(command)
        if await self._confirmed(command.path[0], effect, ids, target=self._me.target):
            self._run(line, command, command.confirmed())
        else:
            self._say("nothing was changed")

    def action_palette(self) -> None:
        """Search in everything that can be done."""
        # Made of the registry of commands, which a console that is only looked at does not need.
        from cacheroute_tui.palette import Everything, Palette

        self.push_screen(
            Palette(providers=[Everything], placeholder="a screen, an action, a command …")
        )


def json_of(document: object) -> str:
    """Write a document for people to read and programs to parse."""
    return json.dumps(document, default=_plain, ensure_ascii=False, indent=2)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, datetime):
        return render_instant(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


def _asked_for_yes(lines: Sequence[str]) -> str | None:
    for line in lines:
        _, found, effect = line.partition(NEEDS_YES)
        if found:
            return effect
    return None


def _of_effect(command: Command) -> Sequence[str]:
    return command.ids[:1] if command.path[0] == "weight" else command.ids


def _interval_of(words: Sequence[str]) -> float | None:
    text = words[1] if len(words) == 2 and words[0] in ("-i", "--interval") else None
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
