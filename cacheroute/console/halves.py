"""Numbers in two bytes each: three digits of any, and whole ones up to 2,048 as they are.

A chart cannot tell them from longer ones. NaN stays NaN.
"""

import struct
from collections.abc import Iterable, Sequence

from cacheroute.console.points import GAP

BYTES = 2
MOST = 67_000_000.0
"""What is more is kept as this."""

# As they are, the numbers would end at 65,504, and a backlog in milliseconds goes beyond.
_SCALE = 1_024.0
_SHRUNK = 1 / _SCALE
_GAP = struct.pack("<e", GAP)


def packed(values: Sequence[float | None]) -> bytes:
    """Pack a column; one of which nothing is known takes no bytes at all."""
    shrunk = [GAP if value is None else value * _SHRUNK for value in values]
    layout = f"<{len(shrunk)}e"
    try:
        found = struct.pack(layout, *shrunk)
    except OverflowError:
        most = MOST * _SHRUNK
        # In this order NaN stays what it is.
        found = struct.pack(layout, *(most if one > most else max(one, -most) for one in shrunk))
    return b"" if found == _GAP * len(shrunk) else found


def at_place(columns: Iterable[bytes], place: int) -> list[float]:
    """Return one number out of each column; NaN where a column does not reach so far."""
    begin, end = place * BYTES, (place + 1) * BYTES
    found = b"".join([column[begin:end] or _GAP for column in columns])
    return [value * _SCALE for value in struct.unpack(f"<{len(found) // BYTES}e", found)]
