"""Numbers as screens write them: as lists do, but what nobody knows is a question mark.

Where there is nothing to know, such as the age of a link of the settings, a screen writes a dash.
"""

from collections.abc import Callable
from typing import TypeVar

from cacheroute.console import amounts
from cacheroute.console.cells import UNTOLD

T = TypeVar("T")


def _asked(render: Callable[[T | None], str]) -> Callable[[T | None], str]:
    def written(value: T | None) -> str:
        return UNTOLD if value is None else render(value)

    return written


render_bandwidth = _asked(amounts.render_bandwidth)
render_clock = _asked(amounts.render_clock)
render_count = _asked(amounts.render_count)
render_duration = _asked(amounts.render_duration)
render_latency = _asked(amounts.render_latency)
render_memory = _asked(amounts.render_memory)
render_ms = _asked(amounts.render_ms)
render_number = _asked(amounts.render_number)
render_percent = _asked(amounts.render_percent)
render_ratio = _asked(amounts.render_ratio)
render_score = _asked(amounts.render_score)
