"""Numbers with units as people type them in a filter: `2m`, `80%`, `10GB`, `1.5s`.

The column says what its numbers are in; what is typed may be in anything of the same sort.
"""

import math
import re
from collections.abc import Mapping

from cacheroute.console.columns import Unit

_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))\s*([a-zA-Z%/µ]*)", re.ASCII)
_TIMES_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_TIMES_MS = {unit: 1_000 * seconds for unit, seconds in _TIMES_S.items()}
_SIZES_MB = {"kb": 1 / 1024, "mb": 1.0, "gb": 1024.0, "tb": 1024.0**2, "g": 1024.0, "m": 1.0}

FACTORS: Mapping[Unit, Mapping[str, float]] = {
    "": {},
    "%": {"%": 1.0},
    "ratio": {"%": 0.01},
    "s": _TIMES_S,
    "ms": _TIMES_MS,
    "MB": _SIZES_MB,
    "Mbps": {"kbps": 0.001, "mbps": 1.0, "gbps": 1_000.0},
    "req/s": {"req/s": 1.0, "/s": 1.0},
}
"""For each unit of a column, the units that may be typed and what they are multiplied with."""


def read_quantity(text: str, unit: Unit) -> float:
    """Return the number in the column's unit; raises ValueError with what may be typed."""
    found = _NUMBER.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a number")
    value, typed = float(found[1]), found[2].lower()
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a finite number")
    if not typed:
        return value
    factors = FACTORS[unit]
    if typed not in factors:
        known = f"only {', '.join(factors)}" if factors else "a bare number"
        raise ValueError(f"{found[2]!r} is no unit here, {known} will do")
    return value * factors[typed]
