"""A command line that runs beside the console: the same program as in a shell, its output kept.

It is a process of its own, so it can be ended, it cannot take the terminal, and it parses what
it is given exactly as the shell's does.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cacheroute_cli.config.load import load
from cacheroute_cli.context import TOKEN_VARIABLE, Given
from cacheroute_cli.diagnostics import Fault
from cacheroute_tui.opening import token_now
from cacheroute_tui.options import Target
from cacheroute_tui.terminal_programs import surroundings

MAX_OUTPUT_BYTES = 4 * 1024 * 1024
"""What comes behind is not read: the command is ended."""
_END_GRACE_S = 5.0
_PIECE_BYTES = 64 * 1024
_ending: set[asyncio.Task[None]] = set()
"""Held, since a task nobody holds can vanish."""

NEEDS_YES = "this needs a yes, and nobody can be asked here: "
"""How a command says that it must be confirmed; the effect follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What came of a command."""

    exit: int
    is_cut: bool = False
    """Whether it said more than is kept."""


def environment(
    target: Target, *, may_write: bool, width: int, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the surroundings of a command: our Proxy, our token, and no right to change."""
    found = surroundings() if environ is None else dict(environ)
    # Behind a driver of the toolkit it would take itself for a console.
    for name in ("TEXTUAL_DRIVER", "CACHEROUTE_CONTEXT", "FORCE_COLOR"):
        found.pop(name, None)
    if target.name is not None and _is_known(target.name, found):
        found["CACHEROUTE_CONTEXT"] = target.name
    if target.proxy_url.startswith("http"):
        found["CACHEROUTE_PROXY_URL"] = target.proxy_url
    if (token := token_now(target)) is not None:
        found[TOKEN_VARIABLE] = token
    return found | {
        "CACHEROUTE_READONLY": "false" if may_write else "true",
        "CACHEROUTE_OUTPUT": "table",
        "NO_COLOR": "1",
        "COLUMNS": str(max(40, width)),
        "PYTHONUNBUFFERED": "1",
        "PYTHONIOENCODING": "utf-8",
    }


def _is_known(context: str, environ: Mapping[str, str]) -> bool:
    """Whether a command would find a context of this name, with its thresholds and its label."""
    try:
        return context in load(Given(), environ).in_force.contexts
    except Fault:
        return False


async def run(
    words: Sequence[str], environ: Mapping[str, str], told: Callable[[str], None]
) -> Ended:
    """Run a command and hand on each line that it writes; cancelled, it is ended."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "cacheroute_cli", *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=dict(environ),
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    read, begun = 0, b""
    try:
        while piece := await process.stdout.read(_PIECE_BYTES):
            read += len(piece)
            *lines, begun = (begun + piece).split(b"\n")
            for line in lines:
                told(line.decode("utf-8", "replace"))
            if read > MAX_OUTPUT_BYTES:
                await _end(process)
                return Ended(exit=process.returncode or 0, is_cut=True)
        if begun:
            told(begun.decode("utf-8", "replace"))
        return Ended(exit=await process.wait())
    finally:
        # Whoever closes the line does not wait, and what runs is ended all the same.
        ending = asyncio.create_task(_end(process))  # noqa: TID251 - held here
        _ending.add(ending)
        ending.add_done_callback(_ending.discard)
        await asyncio.shield(ending)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _END_GRACE_S)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        await process.wait()
