"""What is typed to search in text, as an expression that cannot keep its reader busy for ever.

The engine that matches cannot be interrupted, so what may take exponential time is refused, the
rest has few repetitions without a bound, and of a text only the beginning is searched.
"""

import re
from collections.abc import Iterator
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
    if _nests(parsed):
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
    """Count what repeats without a small bound; within `(…){3}` each counts three times."""
    found = 0
    for least_most, bodies in _parts(parsed):
        inside = sum(map(_endless, bodies))
        if least_most is not None:
            most = least_most[1]
            inside = 1 + inside if most > _FEW else most * inside
        found += inside
    return found


def _nests(parsed: Any, *, times: int = 1) -> bool:
    """Whether something that may repeat more or less often, or forks, is repeated often.

    What has no small bound within a few repetitions is left to its count.
    """
    for least_most, bodies in _parts(parsed):
        within = times
        if least_most is None:
            # Of `(a|b)*` only one way matches; of `(a|a)*` two do, and each letter doubles them.
            if len(bodies) > 1 and times > _FEW:
                return True
        else:
            least, most = least_most
            within *= most
            is_counted = times <= _FEW < most
            if times > 1 and least < most and within > _FEW and not is_counted:
                return True
        if any(_nests(body, times=within) for body in bodies):
            return True
    return False


def _parts(parsed: Any) -> Iterator[tuple[tuple[int, int] | None, list[Any]]]:
    """Give what holds expressions: how often at least and at most if it repeats, and those."""
    for code, value in parsed:
        name = str(code)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield (value[0], value[1]), [value[2]]
        elif name == "BRANCH":
            yield None, value[1]
        elif name == "ATOMIC_GROUP":
            yield None, [value]
        elif name == "GROUPREF_EXISTS":
            yield None, [body for body in value[1:] if body is not None]
        elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
            yield None, [value[-1]]
