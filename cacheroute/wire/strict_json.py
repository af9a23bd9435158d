"""JSON that every reader takes: no NaN, no Infinity, no lone surrogates.

Other people's values end up in our replies. One NaN in one Instance's meta must not turn
the whole pool's page into something no JSON parser accepts.
"""

import json
import math
from collections.abc import Mapping

MAX_DEPTH = 32
"""Deepest nesting that is taken in: far beyond use, far below any recursion limit."""


def encode(value: object) -> bytes:
    """Render as UTF-8 JSON; a number that is not finite becomes null."""
    try:
        text = _render(value)
    except ValueError:
        text = _render(_finite(value))
    return text.encode("utf-8", "replace")


def flaw_of(value: object, depth: int = 0) -> str | None:
    """Say why a decoded JSON value may not be kept and shown again; None when it may."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is not a finite number"
    if not isinstance(value, (dict, list)):
        return None
    if depth >= MAX_DEPTH:
        return f"nested deeper than {MAX_DEPTH} levels"
    items = value.values() if isinstance(value, dict) else value
    return next((flaw for item in items if (flaw := flaw_of(item, depth + 1))), None)


def _render(value: object) -> str:
    return json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
        default=_plain,
    )


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
