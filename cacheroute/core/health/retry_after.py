"""What a `Retry-After` header asks for, in seconds from now.

Delta seconds and all three HTTP date forms are read; whatever else stands there is no
hint at all. The header itself goes to the client as it came.
"""

from datetime import UTC
from email.utils import parsedate_to_datetime


def parse_retry_after(value: bytes | None, now_wall_s: float) -> float | None:
    """Return the wait in seconds, 0 for a date in the past; None when it says nothing.

    A negative number is junk, not a past date; a huge one is returned as it is, for the
    caller to clamp.
    """
    if value is None:
        return None
    text = value.decode("latin-1").strip()
    if text.isascii() and text.isdigit():
        return float(text[:18])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:  # the asctime form names no zone, and HTTP has only one
        date = date.replace(tzinfo=UTC)
    try:
        return max(0.0, date.timestamp() - now_wall_s)
    except (ValueError, OverflowError):
        return None
