"""A prompt for command lines: the same registry and the same parser as those of the shell.

`:X Y` is `cacheroute X Y`, with or without the colon. An error ends a command and never the
prompt; nothing is handed to a shell.
"""

import contextlib
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from cacheroute_cli.completing.seen import recall
from cacheroute_cli.context import Context, Given, resolve
from cacheroute_cli.diagnostics import Exit, Fault, note, report_fault
from cacheroute_cli.main import PROGRAM, run
from cacheroute_cli.supervisor.state import state_root

HISTORY_LINES = 500
_LEAVE = frozenset(("exit", "quit", "q"))
_ENDING = frozenset((Exit.BROKEN_PIPE, Exit.TERMINATED))
"""Codes after which nobody is there to type another command."""


class Left(Exception):
    """Somebody has typed `:exit`."""


def words_of(line: str) -> list[str]:
    """Return a line as the arguments of the program; none for a blank line or a comment.

    Raises ValueError for a quote that is not closed, and Left for `:exit`.
    """
    words = shlex.split(line, comments=True)
    if not words:
        return []
    first = words[0].removeprefix(":")
    words = [first, *words[1:]] if first else words[1:]
    if words and words[0] == PROGRAM:
        words = words[1:]
    if words and words[0] in _LEAVE and len(words) == 1:
        raise Left
    return words


def run_lines(lines: Iterable[str], given: Given) -> int:
    """Run one line after the other; returns the first exit code that is not 0."""
    failed = 0
    for line in lines:
        try:
            code = run_line(line, given)
        except Left:
            break
        failed = failed or code
        if code in _ENDING:
            break
    return failed


def run_line(line: str, given: Given) -> int:
    """Run one line as the program would; raises Left."""
    try:
        words = words_of(line)
    except ValueError as problem:
        note(f"{PROGRAM}: error: {str(problem).lower()}")
        return Exit.USAGE
    if not words:
        return Exit.OK
    if words[0] == "repl":
        note(f"{PROGRAM}: error: this is the prompt already")
        return Exit.USAGE
    try:
        return run(words, given)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def run_prompt(given: Given) -> int:
    """Read lines from whoever types, or from a pipe; returns the code to end with."""
    if not sys.stdin.isatty():
        return run_lines(_piped(), given)
    note("type a command, :help for all of them, :exit or Ctrl-D to leave")
    _greet(given)
    with _history(state_root() / "history"):
        while True:
            try:
                line = input(prompt(given))
                code = run_line(line, given)
            except KeyboardInterrupt:
                sys.stderr.write("\n")
                continue
            except EOFError:
                sys.stderr.write("\n")
                return Exit.OK
            except Left:
                return Exit.OK
            if code in _ENDING:
                return code
            if code:
                note(f"exit {code}")


def prompt(given: Given) -> str:
    """Return the prompt: the label of the context, the Proxy's own name, or where it is."""
    try:
        context = resolve(given)
    except Fault:
        return "?> "
    return f"{_name(context)}> "


def _name(context: Context) -> str:
    seen = recall(context.proxy_url).proxy_id
    name = context.label or context.name or seen or context.proxy_url.partition("://")[2]
    return "".join(c for c in name if c.isprintable())


def _greet(given: Given) -> None:
    """Ask once who is there, but not for long: a prompt must come whatever the link is like."""
    from dataclasses import replace

    from cacheroute_cli.control import control_client

    try:
        context = resolve(given)
        timeout_s = min(1.0, context.timeout_s)
        with control_client(replace(context, timeout_s=timeout_s)) as client:
            told = client.status()
    except Fault as fault:
        report_fault(fault, as_json=False)
        return
    who = told.proxy_id or "a Proxy"
    pool = f"{told.alive_instances} of {told.total_instances} Instances alive"
    note(f"{who} at {context.proxy_url}: {pool}")


def _piped() -> Iterator[str]:
    # An own iterator: the commands may read stdin too, and must find what was not taken yet.
    while line := sys.stdin.readline():
        yield line


@contextlib.contextmanager
def _history(path: Path) -> Iterator[None]:
    """Have earlier lines at hand, and keep the last of these; completes with the tab key."""
    try:
        import readline
    except ImportError:
        yield
        return
    readline.set_history_length(HISTORY_LINES)
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    readline.set_completer_delims(" \t\n=")
    readline.set_completer(_Completer(lambda: readline.get_line_buffer()[: readline.get_endidx()]))
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)
        with contextlib.suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            readline.write_history_file(path)
            path.chmod(0o600)


class _Completer:
    """Completes as the shell does; what it replaces is what follows the last blank or `=`."""

    def __init__(self, typed: Callable[[], str]) -> None:
        self._typed = typed
        self._found: Sequence[str] = ()

    def __call__(self, _: str, at: int) -> str | None:
        if at == 0:
            self._found = completions(self._typed())
        return self._found[at] if at < len(self._found) else None


def completions(typed: str) -> list[str]:
    """Return what may follow in the place of the last word of a line; never fails."""
    from cacheroute_cli.completing.answer import found_for
    from cacheroute_cli.completing.candidates import split

    words = split(typed)
    colon = ":" if len(words) == 1 and words[0].startswith(":") else ""
    words[0] = words[0].removeprefix(":")
    try:
        found = found_for(words, state_root() / "completion") or []
    except Exception:
        # A prompt is for typing; what cannot be completed is typed out.
        return []
    kept = words[-1].rfind("=") + 1
    return [f"{colon}{shlex.quote(one.word)[kept:]} " for one in found]
