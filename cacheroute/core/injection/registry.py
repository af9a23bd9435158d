"""Every injection strategy by name: one row each, and nothing else to change when one is added."""

from dataclasses import dataclass

from cacheroute.core.injection.strategies import (
    DEFAULT,
    IWS,
    Strategy,
    decide_default,
    decide_iws,
)


@dataclass(frozen=True, slots=True)
class Row:
    """One injection strategy."""

    name: str
    decide: Strategy
    summary: str
    """One line for help texts and the README."""


STRATEGIES = (
    Row(DEFAULT, decide_default, "As the Scheduler wants it."),
    Row(IWS, decide_iws, "As text or as KV, whichever is predicted to be faster now."),
)

BY_NAME = {row.name: row for row in STRATEGIES}


def find(name: str) -> Row | None:
    """Return the row of an injection strategy by its name; None when there is none."""
    return BY_NAME.get(name.strip().lower())


def known_names() -> str:
    """List the names for an error message."""
    return ", ".join(BY_NAME)
