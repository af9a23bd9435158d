"""The command lines that were typed before, kept from one console to the next."""

import contextlib
import os
from pathlib import Path

MAX_LINES = 500
_MAX_LINE_CHARS = 2_000
_MAX_FILE_BYTES = 2 * 1024 * 1024


class CommandHistory:
    """Lines, the newest last; what cannot be read or written is as if it had not been."""

    def __init__(self, path: Path | None) -> None:
        """None keeps them for this console alone."""
        self._path = path
        self._lines = self._read()

    @property
    def lines(self) -> list[str]:
        """All lines, the newest last."""
        return self._lines

    def add(self, line: str) -> None:
        """Keep a line; the same one twice is kept once, as the newest."""
        line = line.strip()[:_MAX_LINE_CHARS]
        if not line or "\n" in line:
            return
        if self._path is not None:
            # Another console may have written meanwhile.
            self._lines = self._read()
        self._lines = [*(one for one in self._lines if one != line), line][-MAX_LINES:]
        self._write()

    def suggested(self, typed: str) -> str | None:
        """Return the newest line that begins so."""
        if not typed:
            return None
        return next((one for one in reversed(self._lines) if one.startswith(typed)), None)

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            with self._path.open("rb") as file:
                raw = file.read(_MAX_FILE_BYTES)
        except OSError:
            return []
        lines = raw.decode("utf-8", "replace").split("\n")
        return [line for line in lines if line.strip()][-MAX_LINES:]

    def _write(self) -> None:
        if self._path is None:
            return
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write("\n".join(self._lines) + "\n")
            beside.replace(self._path)
