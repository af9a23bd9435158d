"""A value that fits a JSON schema: what a tool call or a structured answer is filled with.

Always the same for the same schema. Only what schemas in tool definitions use is read; a
schema that refers to itself is cut at a depth, and a wide one at a number of values, where null
has to do.
"""

from collections.abc import Callable, Mapping
from typing import Any

_DEPTH_MAX = 12
_ITEMS_MAX = 64
_VALUES_MAX = 4096
_BOUND_MAX = 10**15
"""Bounds beyond this are not kept to: some are no number at all."""


def example_of(schema: object) -> Any:
    """Return one value for a schema; null where nothing is said."""
    return _Example(schema).of(schema, 0)


class _Example:
    """One value in the making."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._left = _VALUES_MAX

    def of(self, schema: object, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > _DEPTH_MAX or self._left < 0:
            return None
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        for key in ("enum", "examples"):
            if isinstance(schema.get(key), list) and schema[key]:
                return schema[key][0]
        if isinstance(schema.get("$ref"), str):
            return self.of(self._referred_to(schema["$ref"]), depth + 1)
        for key in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self.of(schema[key][0], depth + 1)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = kind[0] if kind else None
        if kind is None and "properties" in schema:
            kind = "object"
        maker = _MAKERS.get(kind) if isinstance(kind, str) else None
        return maker(self, schema, depth) if maker else None

    def _referred_to(self, reference: str) -> object:
        found = self._root
        for name in filter(None, reference.removeprefix("#").split("/")):
            found = found.get(name) if isinstance(found, Mapping) else None
        return found


def _object(example: _Example, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {
        str(name): example.of(part, depth + 1)
        for name, part in list(properties.items())[:_ITEMS_MAX]
    }


def _array(example: _Example, schema: Mapping[str, Any], depth: int) -> list[Any]:
    least = schema.get("minItems")
    length = min(least, _ITEMS_MAX) if isinstance(least, int) and least > 0 else 1
    return [example.of(schema.get("items"), depth + 1) for _ in range(length)]


def _integer(_example: _Example, schema: Mapping[str, Any], _depth: int) -> int:
    for key, step in (("minimum", 0), ("exclusiveMinimum", 1), ("maximum", 0)):
        bound = schema.get(key)
        if isinstance(bound, bool) or not isinstance(bound, (int, float)):
            continue
        if -_BOUND_MAX < bound < _BOUND_MAX:
            return int(bound) + step
    return 1


def _number(example: _Example, schema: Mapping[str, Any], depth: int) -> float:
    return float(_integer(example, schema, depth))


def _string(_example: _Example, schema: Mapping[str, Any], _depth: int) -> str:
    least = schema.get("minLength")
    return "text".ljust(min(least, 4096) if isinstance(least, int) else 0, ".")


_MAKERS: dict[str, Callable[[_Example, Mapping[str, Any], int], Any]] = {
    "object": _object,
    "array": _array,
    "integer": _integer,
    "number": _number,
    "string": _string,
    "boolean": lambda _example, _schema, _depth: True,
    "null": lambda _example, _schema, _depth: None,
}
