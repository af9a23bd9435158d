"""Every kind of list there is, by the name of its command; each is imported when it is asked for.

A command needs one of them, and all of them cost as much as the rest of a command.
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from cacheroute.console.columns import Kind

_PLACES: Mapping[str, str] = {
    "instances": "instances",
    "loads": "loads",
    "resources": "resources",
    "queues": "queues",
    "topology": "topology",
    "scores": "scores",
    "decisions": "decisions",
    "traces": "traces",
    "scheduler": "scheduler",
    "alerts": "alerts",
    "ps": "processes",
}
"""Name of the list to name of the module; the kind in it is named as the module."""


class _Kinds(Mapping[str, Kind[Any]]):
    """The kinds, each from the module of its name."""

    def __getitem__(self, name: str) -> Kind[Any]:
        place = _PLACES[name]
        module = importlib.import_module(f"cacheroute.console.rows.{place}")
        kind = getattr(module, place.upper())
        assert isinstance(kind, Kind), f"{place} is a kind"  # noqa: S101
        return kind

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


KINDS: Mapping[str, Kind[Any]] = _Kinds()
