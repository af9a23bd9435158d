"""What is typed to search in text, as an expression that cannot keep its reader busy for ever.

The engine that matches cannot be interrupted, so what may take exponential time is refused, and
only so much of a text is searched that the rest takes moments.
"""

import re
from typing import Any

MAX_PATTERN_CHARS = 200
MAX_SEARCHED_CHARS = 1_000
"""Of each text; what is behind is not searched."""
MAX_ENDLESS = 4
"""Repetitions without a bound in one expression: each multiplies the time by the text's length."""

_FEW = 16


def regex(pattern: str, *, any_case: bool = True) -> re.Pattern[str]:
    """Compile a pattern; raises ValueError when it is none, or may never end."""
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ValueError(f"a regular expression has at most {MAX_PATTERN_CHARS} characters")
    try:
        compiled = re.compile(pattern, re.IGNORECASE if any_case else 0)
        parsed = re._parser.parse(pattern)  # type: ignore[attr-defined]  # noqa: SLF001
    except (re.error, RecursionError, OverflowError) as problem:
        raise ValueError(f"/{pattern}/ is no regular expression: {problem}") from None
    if _nests(parsed, inside=False):
        raise ValueError("it repeats a repetition, and may never end")
    if _endless(parsed) > MAX_ENDLESS:
        raise ValueError(f"it has more than {MAX_ENDLESS} repetitions without a bound")
    return compiled


def search_pattern(text: str) -> re.Pattern[str] | None:
    """Read an expression, any case; None for a blank one. Raises ValueError with the reason."""
    return regex(text) if text.strip() else None


def matches(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text matches, as far as it is searched."""
    return pattern.search(text[:MAX_SEARCHED_CHARS]) is not None


def _endless(parsed: Any) -> int:
    """Count what repeats without a small bound."""
    found = 0
    for code, value in parsed:
        name = str(code)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            found += (value[1] > _FEW) + _endless(value[2])
        elif name == "SUBPATTERN":
            found += _endless(value[-1])
        elif name == "BRANCH":
            found += sum(map(_endless, value[1]))
        elif name in ("ASSERT", "ASSERT_NOT"):
            found += _endless(value[1])
    return found


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
