"""Every setting as a row: its path, what it takes, its default.

Walked out of the tree once, so that checks, environment names and documentation cannot
disagree with it. Units are in the names: what ends in `_s` takes durations, in `_bytes` sizes.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, SecretStr

from cacheroute.settings.docs import field_docs
from cacheroute.settings.tree import Settings

OptionPath = tuple[str, ...]


class Kind(Enum):
    """What a setting takes, as far as reading it from text goes."""

    TEXT = "text"
    SECRET = "secret"  # noqa: S105 - the name of a kind
    PATH = "path"
    FLAG = "true or false"
    NUMBER = "number"
    DURATION = "duration"
    SIZE = "size"
    LIST = "list"
    SECTIONS = "list of sections"
    MAPPING = "JSON object"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting."""

    path: OptionPath
    """Where it stands in the tree."""
    kind: Kind
    """What it takes."""
    nullable: bool
    """Whether `none` is one of its values."""
    default: object
    """Its value when nobody sets it; None as well where it depends on something else."""
    owner: type
    """The class that holds the field, which is where its text stands."""
    items: type | None = None
    """The class of each entry of a list of sections."""

    @property
    def key(self) -> str:
        """The path as people write it: `proxy.port`."""
        return ".".join(self.path)

    @property
    def env_name(self) -> str:
        """Its own environment variable: `CACHEROUTE_PROXY__PORT`."""
        return env_name(self.path)

    @property
    def doc(self) -> str:
        """What it means, in a sentence; empty where nobody wrote one."""
        return field_docs(self.owner).get(self.path[-1], "")


def env_name(path: OptionPath) -> str:
    """Return the environment variable of a path."""
    return "CACHEROUTE_" + "__".join(path).upper()


@cache
def options() -> Mapping[OptionPath, Option]:
    """Return every setting by path, in the order of the tree."""
    return {option.path: option for option in _walk(Settings, ())}


@cache
def sections() -> Mapping[OptionPath, tuple[str, ...]]:
    """Return the keys that may stand directly under each section; the root is `()`."""
    keys: dict[OptionPath, dict[str, None]] = {}
    for path in options():
        for depth in range(len(path)):
            keys.setdefault(path[:depth], {})[path[depth]] = None
    return {path: tuple(names) for path, names in keys.items()}


def field_names(cls: type) -> tuple[str, ...]:
    """Return the fields of a model or a dataclass."""
    return tuple(name for name, _, _ in _fields(cls))


def _walk(cls: type, prefix: OptionPath) -> Iterator[Option]:
    for name, hint, default in _fields(cls):
        path = (*prefix, name)
        inner, nullable = _unwrap(hint)
        # What may be None is one value with a class of its own, such as the URL of a peer.
        if isinstance(inner, type) and _is_section(inner) and not nullable:
            yield from _walk(inner, path)
            continue
        kind, items = _kind(name, inner)
        yield Option(
            path=path, kind=kind, nullable=nullable, default=default, owner=cls, items=items
        )


def _fields(cls: type) -> list[tuple[str, Any, object]]:
    if issubclass(cls, BaseModel):
        return [
            (name, field.annotation, None if field.default_factory else field.default)
            for name, field in cls.model_fields.items()
        ]
    if not dataclasses.is_dataclass(cls):
        return []
    hints = get_type_hints(cls)
    return [(field.name, hints[field.name], field.default) for field in dataclasses.fields(cls)]


def _is_section(cls: type) -> bool:
    return issubclass(cls, BaseModel) or dataclasses.is_dataclass(cls)


def _unwrap(hint: Any) -> tuple[Any, bool]:
    """Take annotations and `| None` off a type; says whether None was there."""
    if get_origin(hint) is Annotated:
        return _unwrap(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        kept = [arg for arg in get_args(hint) if arg is not NoneType]
        return _unwrap(kept[0])[0], len(kept) < len(get_args(hint))
    return hint, False


def _kind(name: str, inner: Any) -> tuple[Kind, type | None]:
    if get_origin(inner) is Mapping:
        return Kind.MAPPING, None
    if get_origin(inner) is tuple:
        item, _ = _unwrap(get_args(inner)[0])
        if isinstance(item, type) and issubclass(item, BaseModel):
            return Kind.SECTIONS, item
        return Kind.LIST, None
    by_type = {bool: Kind.FLAG, int: Kind.NUMBER, float: Kind.NUMBER, SecretStr: Kind.SECRET}
    kind = by_type.get(inner, Kind.PATH if inner is Path else Kind.TEXT)
    if kind is Kind.NUMBER and name.endswith("_s"):
        return Kind.DURATION, None
    if kind is Kind.NUMBER and name.endswith("_bytes"):
        return Kind.SIZE, None
    return kind, None
