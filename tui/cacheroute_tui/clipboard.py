"""Where copied text goes: a program of this host, the terminal itself, or a file that is named.

Terminals take no more than 74,994 bytes by OSC 52, and some take nothing and say nothing; what
they would lose is kept in a file, and whoever copied is told where.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cacheroute_cli.supervisor.state import state_root

MAX_OSC52_BYTES = 74_994
"""In Base64 that is the 100,000 bytes that xterm reads."""
_PROGRAM_TIMEOUT_S = 2.0
_DEAF = frozenset(("linux", "dumb", "vt100", "vt220"))
_DEAF_PROGRAMS = frozenset(("Apple_Terminal",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """Where a text has gone."""

    method: str
    """`osc52`, `file`, or the name of a program."""
    size_bytes: int
    path: Path | None = None
    """The file it is kept in."""
    why: str | None = None
    """Why it is in a file although that was not asked for."""

    @property
    def told(self) -> str:
        """A sentence for whoever copied."""
        size = f"{self.size_bytes:,} B"
        if self.path is not None:
            reason = f" ({self.why})" if self.why else ""
            return f"{size} kept in {self.path}{reason}"
        return f"copied {size} by {'OSC 52' if self.method == 'osc52' else self.method}"


class Clipboard(Protocol):
    """Takes text."""

    async def copy(self, text: str) -> Copied:
        """Keep a text for pasting; says where it is."""
        ...


class TerminalClipboard:
    """The clipboard of whoever looks at the terminal, as far as it can be reached."""

    def __init__(
        self,
        mode: str,
        write_osc52: Callable[[str], None],
        *,
        environ: Mapping[str, str] | None = None,
        folder: Path | None = None,
        which: Callable[[str], str | None] = shutil.which,
    ) -> None:
        """`mode` is `auto`, `osc52`, `native` or `file`."""
        self._mode = mode
        self._write_osc52 = write_osc52
        self._environ = dict(os.environ if environ is None else environ)
        self._folder = folder
        self._which = which

    async def copy(self, text: str) -> Copied:
        """Keep a text for pasting; what cannot be sent is kept in a file."""
        raw = text.encode("utf-8", "replace")
        why: str | None = None
        if self._mode in ("auto", "native"):
            program = self.program()
            if program is not None:
                if await _fed(program, raw, self._environ):
                    return Copied(method=program[0], size_bytes=len(raw))
                why = f"{program[0]} did not take it"
            elif self._mode == "native":
                why = "there is no program for the clipboard here"
        if self._mode == "osc52" or (self._mode == "auto" and why is None):
            why = self.why_not_osc52(len(raw))
            if why is None:
                self._write_osc52(text)
                return Copied(method="osc52", size_bytes=len(raw))
        return Copied(method="file", size_bytes=len(raw), path=self._kept(raw), why=why)

    def program(self) -> Sequence[str] | None:
        """Return the program that reaches the clipboard from here; None when there is none."""
        said = self._environ.get
        if said("TMUX") and self._which("tmux"):
            # `-w` hands it on to the terminal, which by default panes may not do themselves.
            return ("tmux", "load-buffer", "-w", "-")
        if said("SSH_CONNECTION") or said("SSH_TTY"):
            return None
        for variable, program in (
            ("WAYLAND_DISPLAY", ("wl-copy",)),
            ("DISPLAY", ("xclip", "-selection", "clipboard")),
            ("DISPLAY", ("xsel", "--clipboard", "--input")),
        ):
            if said(variable) and self._which(program[0]):
                return program
        return ("pbcopy",) if self._which("pbcopy") else None

    def why_not_osc52(self, size_bytes: int) -> str | None:
        """Say why the terminal would lose so much; None when it takes it."""
        if size_bytes > MAX_OSC52_BYTES:
            return f"terminals take {MAX_OSC52_BYTES:,} B at most"
        if self._mode == "osc52":
            return None
        said = self._environ.get
        term = said("TERM", "")
        if term in _DEAF or said("TERM_PROGRAM") in _DEAF_PROGRAMS:
            return f"{said('TERM_PROGRAM') or term} takes no text from programs"
        if said("VTE_VERSION"):
            return "terminals made with VTE take no text from programs"
        return None

    def _kept(self, raw: bytes) -> Path:
        folder = self._folder or state_root() / "copied"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            folder = Path(tempfile.gettempdir())
        handle, name = tempfile.mkstemp(prefix="cacheroute-", suffix=".txt", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(raw)
        path = Path(name)
        _forget_the_oldest(folder, keeps=20)
        return path


def _forget_the_oldest(folder: Path, *, keeps: int) -> None:
    found = sorted(folder.glob("cacheroute-*.txt"), key=lambda path: path.stat().st_mtime_ns)
    for path in found[:-keeps]:
        path.unlink(missing_ok=True)


async def _fed(program: Sequence[str], raw: bytes, environ: Mapping[str, str]) -> bool:
    """Hand text to a program; False when it failed, or did not take it in time."""
    nowhere = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *program, stdin=asyncio.subprocess.PIPE, stdout=nowhere, stderr=nowhere,
            env=dict(environ),
        )  # fmt: skip
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(raw), _PROGRAM_TIMEOUT_S)
    except (TimeoutError, OSError):
        if process.returncode is None:
            process.kill()
            await process.wait()
        return False
    return process.returncode == 0
