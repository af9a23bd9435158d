"""One source after the other, and of all of them the values that hold, each with who gave it.

In one source, an address that is given outranks the context that is named. A context named
below an address is not the one in force: its name and its token belong to another Proxy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from cacheroute_cli.config.options import (
    CONTEXT_OPTIONS,
    CONTEXTS,
    KEYS,
    OPTIONS,
    TABLES,
    Option,
)

DEFAULT = "default"
MAX_CONTEXTS = 1000
MAX_KEYS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value and who gave it."""

    value: Any
    origin: str
    """`default`, `config.toml:3`, `CACHEROUTE_CONTEXT` or `--context`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one source gives."""

    values: dict[str, Value] = field(default_factory=dict)
    """By the path of the key."""
    contexts: dict[str, dict[str, Value]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """What is wrong with it, a sentence each."""
    is_of_this_folder: bool = False
    """Whether it is found by being here, so that a stranger may have written it."""
    is_empty: bool = False
    """Whether it is a file that says nothing at all, not even in a comment."""

    def take(self, option: Option, value: object, origin: str, *, name: str | None = None) -> None:
        """Keep a value, or note why it cannot be."""
        try:
            self.values[option.key] = Value(value=option.kind.read(value), origin=origin)
        except ValueError as problem:
            where = f"{origin}: {name}" if name else origin
            self.problems.append(f"{where} {problem}")

    def take_for_context(self, context: str, key: str, value: object, origin: str) -> None:
        """Keep a value of a context, or note why it cannot be."""
        name = f"{CONTEXTS}.{context}.{key}"
        option = CONTEXT_OPTIONS.get(key)
        if option is None:
            self.unknown(origin, name, key, CONTEXT_OPTIONS)
            return
        try:
            read = Value(value=option.kind.read(value), origin=origin)
        except ValueError as problem:
            self.problems.append(f"{origin}: {name} {problem}")
            return
        self.contexts.setdefault(context, {})[key] = read

    def unknown(self, origin: str, name: str, key: str, known: Mapping[str, object]) -> None:
        """Note a key that nothing is called, with what may have been meant, as it is written."""
        by_last = {path.rpartition(".")[2]: path for path in reversed(_paths())}
        siblings = get_close_matches(key, known, n=1, cutoff=0.5)
        elsewhere = get_close_matches(key, by_last, n=1, cutoff=0.75)
        near = (
            [by_last[key]]
            if key in by_last
            else [name.removesuffix(key) + one for one in siblings]
            or [by_last[one] for one in elsewhere]
        )
        meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
        self.problems.append(f"{origin}: {name} is not known{meant}")


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What holds."""

    values: Mapping[str, Value]
    """Of every key; those of bindings are `keys.ID`."""
    context: str | None
    """The context in force, whether it is known or not."""
    context_origin: str | None
    contexts: Mapping[str, Mapping[str, Value]]
    """All that are known."""
    of_context: Mapping[str, Value]
    """What the context in force gives, whether or not something outranks it."""
    problems: Sequence[str]
    proxy_is_from_here: bool
    """Whether the address of the Proxy stands in the stack file of this folder."""


def in_force(layers: Sequence[Layer]) -> InForce:
    """Put the layers together; the first outranks the others."""
    contexts = _contexts(layers)
    at = _rank_of_context(layers)
    named = None if at is None else layers[at].values["current_context"]
    of_context = contexts.get(named.value, {}) if named else {}
    values: dict[str, Value] = {}
    for key, option in OPTIONS.items():
        if key == "current_context":
            found = named
        elif key == "readonly":
            found = _readonly(layers, of_context, at)
        else:
            found = _first(layers, key, of_context, at)
        values[key] = found or Value(value=option.default, origin=DEFAULT)
    # In this order, so that of two actions with one key the one that outranks has it.
    for layer in layers:
        for key, value in layer.values.items():
            if key.startswith(f"{KEYS}."):
                values.setdefault(key, value)
    return InForce(
        values=values,
        context=named.value if named else None,
        context_origin=named.origin if named else None,
        contexts=contexts,
        of_context=of_context,
        problems=[problem for layer in layers for problem in layer.problems],
        proxy_is_from_here=any(
            layer.is_of_this_folder and layer.values.get("proxy_url") is values["proxy_url"]
            for layer in layers
        ),
    )


def _contexts(layers: Sequence[Layer]) -> dict[str, dict[str, Value]]:
    found: dict[str, dict[str, Value]] = {}
    for layer in layers:
        for name, values in layer.contexts.items():
            found[name] = values | found.get(name, {})
    return found


def _rank_of_context(layers: Sequence[Layer]) -> int | None:
    for at, layer in enumerate(layers):
        if "current_context" in layer.values:
            return at
        if "proxy_url" in layer.values:
            return None
    return None


def _first(
    layers: Sequence[Layer], key: str, of_context: Mapping[str, Value], at: int | None
) -> Value | None:
    for rank, layer in enumerate(layers):
        if key in layer.values:
            return layer.values[key]
        if rank == at and key in of_context and CONTEXT_OPTIONS[key] is OPTIONS.get(key):
            return of_context[key]
    return None


def _readonly(
    layers: Sequence[Layer], of_context: Mapping[str, Value], at: int | None
) -> Value | None:
    """Find who decides on writes; the file of a folder may forbid them, and never allow them."""
    trusted = [replace(layer, values=_without_permission(layer)) for layer in layers]
    return _first(trusted, "readonly", of_context, at)


def _without_permission(layer: Layer) -> dict[str, Value]:
    said = layer.values.get("readonly")
    if not layer.is_of_this_folder or said is None or said.value:
        return layer.values
    return {key: value for key, value in layer.values.items() if key != "readonly"}


def known_tables() -> tuple[str, ...]:
    """Return every name that may stand at the top of a file."""
    top = [key for key, option in OPTIONS.items() if "." not in key and option.in_files]
    return (*top, CONTEXTS, *TABLES, KEYS)


def _paths() -> tuple[str, ...]:
    """Return every key that a file may hold, by its whole path."""
    of_contexts = [f"{CONTEXTS}.NAME.{key}" for key in CONTEXT_OPTIONS if key not in OPTIONS]
    return (*(key for key, option in OPTIONS.items() if option.in_files), *of_contexts)
