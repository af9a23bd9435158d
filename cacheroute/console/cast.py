"""Columns by the sort of their value, so that a registry reads as a list of meanings.

Each reads the attribute named as its key; numbers stand right, and None is a dash.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

from cacheroute.console import amounts
from cacheroute.console.columns import Column

R = TypeVar("R")


def _column(render: Callable[[Any], str], defaults: dict[str, Any]) -> Callable[..., Column[Any]]:
    def build(key: str, header: str, doc: str, **changes: Any) -> Column[Any]:
        read = attrgetter(key)
        given = {"text": lambda row: render(read(row)), **defaults, **changes}
        return Column(key=key, header=header, doc=doc, **given)

    return build


word = _column(amounts.render_text, {})
"""A name or a state."""
words = _column(amounts.render_words, {})
"""Several names."""
yes = _column(amounts.render_yes, {})
"""A yes or a no."""
clock = _column(amounts.render_clock, {})
"""A moment."""
count = _column(amounts.render_count, {"right": True})
"""How many."""
number = _column(amounts.render_number, {"right": True})
"""Any number."""
score = _column(amounts.render_score, {"right": True})
"""What strategies compare."""
percent = _column(amounts.render_percent, {"right": True, "unit": "%"})
"""A share of a hundred."""
ratio = _column(amounts.render_ratio, {"right": True, "unit": "ratio"})
"""A share of one."""
duration = _column(amounts.render_duration, {"right": True, "unit": "s", "ages": True})
"""An age or a span, in seconds."""
wait = _column(amounts.render_wait, {"right": True, "unit": "ms"})
"""A span in milliseconds that may be long."""
span = _column(amounts.render_ms, {"right": True, "unit": "ms"})
"""A span in milliseconds, as seconds from ten of them on."""
latency = _column(amounts.render_latency, {"right": True, "unit": "ms"})
"""A short span, in milliseconds."""
memory = _column(amounts.render_memory, {"right": True, "unit": "MB"})
"""Memory, in MiB."""
bandwidth = _column(amounts.render_number, {"right": True, "unit": "Mbps"})
"""10^6 bit/s."""
rate = _column(amounts.render_number, {"right": True, "unit": "req/s"})
"""Requests a second."""
