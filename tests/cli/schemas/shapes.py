"""Whether a document is as its schema's file says: every key there, none besides, of its type.

A shape is written as the document is, with types for values: `text`, `integer`, `number`,
`bool`, `instant`, `any`, words to choose from as `=alive|dead`, and a `?` behind what may be
null. `[shape]` is a list, `{"*": shape}` an object with keys of its own choice, and
`{"?": shape}` an object that may be null.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def path_of(schema: str) -> Path:
    """Return where `cacheroute.instances/1` is described."""
    return FOLDER / f"{schema.replace('/', '.')}.json"


def described() -> set[str]:
    """Return the names of all schemas there are."""
    return {
        f"{name}/{version}"
        for name, _, version in (path.stem.rpartition(".") for path in FOLDER.glob("*.json"))
    }


def flaws_of(document: dict[str, Any]) -> list[str]:
    """Say what is wrong with a document; nothing when it is as described."""
    path = path_of(document["schema"])
    if not path.exists():
        return [f"{document['schema']} is described nowhere"]
    return list(_flaws(document, json.loads(path.read_text("utf-8")), "it"))


def _flaws(value: Any, shape: Any, place: str) -> Iterator[str]:
    if isinstance(shape, str):
        if not _is(value, shape):
            yield f"{place} is {value!r}, not {shape}"
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{place} is no list"
            return
        for at, item in enumerate(value):
            yield from _flaws(item, shape[0], f"{place}[{at}]")
    elif set(shape) == {"?"}:
        if value is not None:
            yield from _flaws(value, shape["?"], place)
    elif not isinstance(value, dict):
        yield f"{place} is no object"
    elif set(shape) == {"*"}:
        for key, item in value.items():
            yield from _flaws(item, shape["*"], f"{place}.{key}")
    else:
        optional = {key for key in shape if key.endswith("?")}
        needed = {key for key in shape if key not in optional}
        known = needed | {key[:-1] for key in optional}
        yield from (f"{place}.{key} is missing" for key in sorted(needed - set(value)))
        yield from (f"{place}.{key} is not described" for key in sorted(set(value) - known))
        for key, item in value.items():
            if key in known:
                yield from _flaws(item, shape.get(key, shape.get(f"{key}?")), f"{place}.{key}")


def _is(value: Any, kind: str) -> bool:
    if kind.endswith("?"):
        return value is None or _is(value, kind[:-1])
    if kind.startswith("="):
        return value in kind[1:].split("|")
    match kind:
        case "text":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "bool":
            return isinstance(value, bool)
        case "instant":
            return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
        case "any":
            return True
        case _:
            raise ValueError(f"{kind!r} is no type of a schema")
