"""A labelled line: what it is about, then its facts. How it is laid out is for each face."""

from dataclasses import dataclass

from cacheroute.console.columns import Tone


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a summary."""

    label: str
    facts: tuple[str, ...]
    tone: Tone = "plain"
    """Colour of the first fact."""
