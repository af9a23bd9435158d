"""From the tables of a file to a layer: every key known, every value of its kind.

TOML and YAML come here as the same plain values; only who tells the lines differs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from cacheroute_cli.config.layers import MAX_CONTEXTS, MAX_KEYS, Layer, Value, known_tables
from cacheroute_cli.config.options import CONTEXTS, KEYS, OPTIONS, TABLES

Origin = Callable[[tuple[str, ...]], str]
"""Tells where a key stands, as `file:line`."""


def fill(layer: Layer, document: Mapping[str, Any], origin: Origin) -> None:
    """Take everything that a file says."""
    for key, value in document.items():
        if key == CONTEXTS:
            _contexts(layer, value, origin)
        elif key == KEYS:
            _bindings(layer, value, origin)
        elif key in TABLES:
            _table(layer, key, value, origin)
        elif key in OPTIONS and OPTIONS[key].in_files:
            layer.take(OPTIONS[key], value, origin((key,)), name=key)
        else:
            layer.unknown(origin((key,)), key, key, dict.fromkeys(known_tables()))


def _contexts(layer: Layer, tables: object, origin: Origin) -> None:
    if not isinstance(tables, Mapping):
        layer.problems.append(f"{origin((CONTEXTS,))}: {CONTEXTS} must hold contexts by name")
        return
    if len(tables) > MAX_CONTEXTS:
        layer.problems.append(f"{origin((CONTEXTS,))}: {CONTEXTS} holds more than {MAX_CONTEXTS}")
        return
    for name, values in tables.items():
        where = origin((CONTEXTS, name))
        if not isinstance(values, Mapping):
            layer.problems.append(
                f"{where}: {CONTEXTS}.{name} must be a table such as "
                '{ proxy_url = "http://127.0.0.1:8002" }'
            )
            continue
        if "proxy_url" not in values:
            layer.problems.append(f"{where}: {CONTEXTS}.{name} has no proxy_url")
        for key, value in values.items():
            layer.take_for_context(name, key, value, origin((CONTEXTS, name, key)))


def _table(layer: Layer, table: str, values: object, origin: Origin) -> None:
    if not isinstance(values, Mapping):
        layer.problems.append(f"{origin((table,))}: {table} must be a table of keys and values")
        return
    known = {
        key.partition(".")[2]: option
        for key, option in OPTIONS.items()
        if key.startswith(f"{table}.")
    }
    for key, value in values.items():
        name, where = f"{table}.{key}", origin((table, key))
        if key in known:
            layer.take(known[key], value, where, name=name)
        else:
            layer.unknown(where, name, key, known)


def _bindings(layer: Layer, values: object, origin: Origin) -> None:
    if not isinstance(values, Mapping) or len(values) > MAX_KEYS:
        layer.problems.append(f"{origin((KEYS,))}: {KEYS} must be a table of actions and keys")
        return
    for action, pressed in values.items():
        where = origin((KEYS, action))
        if not isinstance(pressed, str) or not pressed:
            layer.problems.append(f"{where}: {KEYS}.{action} must be the name of a key")
        else:
            layer.values[f"{KEYS}.{action}"] = Value(value=pressed, origin=where)
