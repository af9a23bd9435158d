"""Who has changed what, one line of JSON each, in a small private file.

Changes are rare, so each is written at once. When the file is full it becomes `.1`, in place
of the one before: what is kept is bounded, and the latest is always there.
"""

from collections.abc import Mapping
from pathlib import Path

from cacheroute.stores.base import StoreError
from cacheroute.stores.line_file import add_lines
from cacheroute.wire import strict_json

MAX_BYTES = 1024 * 1024
"""Largest size of the file; a line takes about 400 bytes."""


class AuditFile:
    """Lines that are only added to."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._max_bytes = max_bytes

    def add(self, line: Mapping[str, object]) -> None:
        """Write one line; StoreError when it cannot be."""
        data = strict_json.encode(line) + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_room(len(data))
            add_lines(self.path, data)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {error.strerror}.") from error

    def _make_room(self, adding: int) -> None:
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        if size and size + adding > self._max_bytes:
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
