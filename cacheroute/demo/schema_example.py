"""A value that fits a JSON schema: what a tool call or a structured answer is filled with.

Always the same for the same schema. Only what schemas in tool definitions use is read; a
schema that refers to itself is cut at a depth, where null has to do.
"""

from collections.abc import Callable, Mapping
from typing import Any

_DEPTH_MAX = 12
_ITEMS_MAX = 64


def example_of(schema: object, *, root: object = None, depth: int = 0) -> Any:
    """Return one value for a schema; null where nothing is said."""
    if not isinstance(schema, Mapping) or depth > _DEPTH_MAX:
        return None
    root = schema if root is None else root
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    if isinstance(schema.get("$ref"), str):
        return example_of(_look_up(schema["$ref"], root), root=root, depth=depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return example_of(schema[key][0], root=root, depth=depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if kind is None and "properties" in schema:
        kind = "object"
    maker = _MAKERS.get(kind) if isinstance(kind, str) else None
    return maker(schema, root, depth) if maker else None


def _look_up(reference: str, root: object) -> object:
    found = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _object(schema: Mapping[str, Any], root: object, depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {
        str(name): example_of(part, root=root, depth=depth + 1)
        for name, part in list(properties.items())[:_ITEMS_MAX]
    }


def _array(schema: Mapping[str, Any], root: object, depth: int) -> list[Any]:
    least = schema.get("minItems")
    length = min(least, _ITEMS_MAX) if isinstance(least, int) and least > 0 else 1
    return [example_of(schema.get("items"), root=root, depth=depth + 1)] * length


def _integer(schema: Mapping[str, Any], _root: object, _depth: int) -> int:
    for key, step in (("minimum", 0), ("exclusiveMinimum", 1), ("maximum", 0)):
        bound = schema.get(key)
        if isinstance(bound, (int, float)) and not isinstance(bound, bool):
            return int(bound) + step
    return 1


def _number(schema: Mapping[str, Any], root: object, depth: int) -> float:
    return float(_integer(schema, root, depth))


def _string(schema: Mapping[str, Any], _root: object, _depth: int) -> str:
    least = schema.get("minLength")
    return "text".ljust(min(least, 4096) if isinstance(least, int) else 0, ".")


_MAKERS: dict[str, Callable[[Mapping[str, Any], object, int], Any]] = {
    "object": _object,
    "array": _array,
    "integer": _integer,
    "number": _number,
    "string": _string,
    "boolean": lambda _schema, _root, _depth: True,
    "null": lambda _schema, _root, _depth: None,
}
