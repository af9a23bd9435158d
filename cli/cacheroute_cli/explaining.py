"""An explanation on paper: a word, then what there is to say of it, line by line."""

from collections.abc import Sequence

from cacheroute.console.explain import Explanation
from cacheroute.console.lines import Line


def lines_of(explanations: Sequence[Explanation]) -> list[Line]:
    """Write each sense of a word as a few lines."""
    lines = []
    for one in explanations:
        where = () if one.of == "glossary" else (f"({one.of})",)
        lines.append(Line(label="word", facts=(one.term, *where), tone="good"))
        lines.append(Line(label="means", facts=(one.meaning,)))
        for label, text in (
            ("unit", one.unit),
            ("source", one.source),
            ("unknown", one.unknown),
            ("names", ", ".join(one.names) if len(one.names) > 1 else None),
        ):
            if text:
                lines.append(Line(label=label, facts=(text,)))
    return lines
