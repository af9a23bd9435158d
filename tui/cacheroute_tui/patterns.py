"""What is typed to search in text, as an expression that cannot keep the console busy for ever.

The engine that matches cannot be interrupted, so what may take exponential time is refused.
"""

import re
from typing import Any

from cacheroute.console.comparing import regex

MAX_SEARCHED_CHARS = 1_000
"""Of each line; what is behind is not searched."""

_FEW = 16


def search_pattern(text: str) -> re.Pattern[str] | None:
    """Read an expression, any case; None for a blank one. Raises ValueError with the reason."""
    if not text.strip():
        return None
    pattern = regex(text)
    if _nests(re._parser.parse(text), inside=False):  # type: ignore[attr-defined]  # noqa: SLF001
        raise ValueError("it repeats a repetition, and may never end")
    return pattern


def matches(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a line matches, as far as it is searched."""
    return pattern.search(text[:MAX_SEARCHED_CHARS]) is not None


def _nests(parsed: Any, *, inside: bool) -> bool:
    """Whether something that repeats, or forks, is repeated without a bound."""
    for code, value in parsed:
        name = str(code)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = value
            repeats = most > _FEW
            if (repeats and inside) or _nests(body, inside=inside or repeats):
                return True
        elif name == "SUBPATTERN":
            if _nests(value[-1], inside=inside):
                return True
        elif name == "BRANCH":
            # Of `(a|b)*` only one way matches; of `(a|a)*` two do, and each letter doubles them.
            if inside or any(_nests(branch, inside=inside) for branch in value[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT") and _nests(value[1], inside=inside):
            return True
    return False
