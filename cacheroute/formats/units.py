"""Durations and sizes as people write them: `30s`, `1h30m`, `64KiB`.

A plain number is seconds, or bytes. What is neither is refused with a sentence, never guessed:
`1:30` is not ninety seconds here, and `64K` says neither 64,000 nor 65,536.
"""

import re
from collections.abc import Mapping

DURATION_UNITS: Mapping[str, float] = {
    "d": 86_400.0,
    "h": 3_600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
}
"""Seconds in each unit, largest first: the order in which a duration names them."""

BYTE_UNITS: Mapping[str, int] = {
    "B": 1,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
    "TiB": 1024**4,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
}
"""Bytes in each unit; letters may be of either case when read."""

_MAX_CHARS = 64
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)
_DURATION = re.compile(
    "".join(rf"(?:(?P<{unit}>{_NUMBER.pattern}){unit})?" for unit in DURATION_UNITS),
    re.ASCII,
)
_SIZE = re.compile(rf"(?P<number>{_NUMBER.pattern})\s*(?P<unit>[a-z]*)", re.ASCII | re.IGNORECASE)
_BYTES_BY_LOWER_UNIT = {"": 1} | {unit.lower(): size for unit, size in BYTE_UNITS.items()}


def parse_duration(text: str) -> float:
    """Return seconds; ValueError says in a sentence what a duration looks like."""
    stripped = text.strip()
    if len(stripped) <= _MAX_CHARS:
        if _NUMBER.fullmatch(stripped):
            return float(stripped)
        match = _DURATION.fullmatch(stripped)
        if match and stripped:
            return sum(
                float(number) * DURATION_UNITS[unit]
                for unit, number in match.groupdict().items()
                if number is not None
            )
        if stripped.startswith("-"):
            raise ValueError(f"must not be negative, as {_quoted(text)} is")
    raise ValueError(
        f"must be a duration such as 500ms, 30s, 5m or 1h30m, or plain seconds, not {_quoted(text)}"
    )


def render_duration(seconds: float) -> str:
    """Return the shortest form that `parse_duration` reads back as the same number of seconds."""
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"a duration is finite and not negative, not {seconds!r}")
    if seconds != int(seconds):
        milliseconds = int(seconds * 1000)
        if seconds < 1 and milliseconds * DURATION_UNITS["ms"] == seconds:
            return f"{milliseconds}ms"
        return f"{_plain(seconds)}s"
    rest = int(seconds)
    parts = []
    for unit in ("h", "m", "s"):
        count, rest = divmod(rest, int(DURATION_UNITS[unit]))
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def parse_bytes(text: str) -> int:
    """Return whole bytes; ValueError says in a sentence what a size looks like."""
    stripped = text.strip()
    match = _SIZE.fullmatch(stripped) if len(stripped) <= _MAX_CHARS else None
    size = _BYTES_BY_LOWER_UNIT.get(match["unit"].lower()) if match else None
    if match and size:
        whole, _, fraction = match["number"].partition(".")
        scale = int("1" + "0" * len(fraction))
        parts, left = divmod(int(fraction or 0) * size, scale)
        if left == 0:
            return int(whole) * size + parts
    if stripped.startswith("-"):
        raise ValueError(f"must not be negative, as {_quoted(text)} is")
    raise ValueError(
        f"must be a size such as 64KiB or 32MiB, or plain whole bytes, not {_quoted(text)}"
    )


def render_bytes(size: int) -> str:
    """Return the size in the largest binary unit that leaves a whole number."""
    if size < 0:
        raise ValueError(f"a size is not negative, not {size!r}")
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size and size % BYTE_UNITS[unit] == 0:
            return f"{size // BYTE_UNITS[unit]}{unit}"
    return f"{size}B"


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}…")


def _plain(number: float) -> str:
    """Write a number out in full: `repr` turns 1e-7 into an exponent, which nobody parses."""
    text = repr(number)
    return text if "e" not in text else f"{number:.20f}".rstrip("0").rstrip(".")
