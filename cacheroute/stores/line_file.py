"""A file of lines that are only added to it.

A crash or a full disk may leave the last one unfinished. It is ended before anything is added,
or it would take the next line with it.
"""

import os
from pathlib import Path


def add_lines(path: Path, lines: bytes) -> None:
    """Write whole lines at the end of a private file, which is made if missing; raises OSError."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        size = os.fstat(file).st_size
        if size and os.pread(file, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        rest = memoryview(lines)
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)
