"""Numbers as people read them in a narrow column; a value nobody knows is a dash, never 0."""

from cacheroute_cli.text import UNKNOWN

_STEPS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m"), (60, "m", 1, "s"))


def render_duration(seconds: float | None) -> str:
    """Write an age or a span in at most six characters: `0.4s`, `41s`, `2m3s`, `2h14m`."""
    if seconds is None:
        return UNKNOWN
    seconds = max(0.0, seconds)
    if round(seconds, 1) < 10:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    for unit_s, unit, part_s, part in _STEPS:
        if whole >= unit_s:
            rest = whole % unit_s // part_s
            return f"{whole // unit_s}{unit}{rest}{part}" if rest else f"{whole // unit_s}{unit}"
    return f"{whole}s"


def render_ms(value_ms: float | None) -> str:
    """Write milliseconds, as seconds from ten of them on: `87 ms`, `12.4 s`."""
    if value_ms is None:
        return UNKNOWN
    return f"{value_ms:.0f} ms" if value_ms < 10_000 else f"{value_ms / 1000:.1f} s"


def render_percent(value: float | None) -> str:
    """Write what is a percentage already: `63%`."""
    return UNKNOWN if value is None else f"{value:.0f}%"


def render_ratio(ratio: float | None) -> str:
    """Write a share of one as a percentage: `41.7%`."""
    return UNKNOWN if ratio is None else f"{ratio * 100:.1f}%"


def render_count(value: int | None) -> str:
    """Write a whole number."""
    return UNKNOWN if value is None else str(value)


def render_score(value: float | None) -> str:
    """Write a score with two digits behind the point."""
    return UNKNOWN if value is None else f"{value:.2f}"
