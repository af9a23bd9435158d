"""Every strategy by name: one row each, and nothing else to change when one is added."""

from collections.abc import Callable
from dataclasses import dataclass

from cacheroute.core.routing.strategies import LeastLoad, RoundRobin, Strategy
from cacheroute.core.routing.weights import Weights


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy."""

    name: str
    aliases: tuple[str, ...]
    build: Callable[[Weights], Strategy]
    summary: str
    """One line for help texts and the README."""


STRATEGIES = (
    Row(
        "round_robin",
        ("rr", "round-robin"),
        RoundRobin,
        "Each Instance in its turn, by weight.",
    ),
    Row(
        "least_load",
        ("ll", "least-load"),
        LeastLoad,
        "The Instance with the least weighted load; ties in turn.",
    ),
)

_BY_NAME = {name: row for row in STRATEGIES for name in (row.name, *row.aliases)}


def find(name: str) -> Row | None:
    """Return the row of a strategy by its name or an alias; None when there is none."""
    return _BY_NAME.get(name.strip().lower())


def known_names() -> str:
    """List the names and aliases for an error message."""
    return ", ".join(f"{row.name} ({', '.join(row.aliases)})" for row in STRATEGIES)
