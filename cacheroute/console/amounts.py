"""Numbers as people read them in a narrow column; a value nobody knows is a dash, never 0."""

from datetime import UTC, datetime

from cacheroute.console.cells import UNKNOWN

_STEPS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "m"), (60, "m", 1, "s"))
_MB_PER_GB = 1024


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


def render_wait(value_ms: float | None) -> str:
    """Write a predicted wait as ages are written."""
    return render_duration(None if value_ms is None else value_ms / 1000)


def render_took(value_ms: float) -> str:
    """Write how long something took, below a second in milliseconds: `78ms`, `2.4s`, `1m12s`."""
    return f"{value_ms:.0f}ms" if round(value_ms) < 1000 else render_wait(value_ms)


def render_ms(value_ms: float | None) -> str:
    """Write milliseconds, as seconds from ten of them on: `87 ms`, `12.4 s`."""
    if value_ms is None:
        return UNKNOWN
    return f"{value_ms:.0f} ms" if value_ms < 10_000 else f"{value_ms / 1000:.1f} s"


def render_latency(value_ms: float | None) -> str:
    """Write a short time to a tenth of a millisecond: `1.9ms`."""
    return UNKNOWN if value_ms is None else f"{value_ms:.1f}ms"


def render_bandwidth(value_mbps: float | None) -> str:
    """Write a bandwidth with its unit: `12,000 Mbps`."""
    return UNKNOWN if value_mbps is None else f"{value_mbps:,.0f} Mbps"


def render_percent(value: float | None) -> str:
    """Write what is a percentage already: `63%`."""
    return UNKNOWN if value is None else f"{value:.0f}%"


def render_ratio(ratio: float | None) -> str:
    """Write a share of one as a percentage: `41.7%`."""
    return UNKNOWN if ratio is None else f"{ratio * 100:.1f}%"


def render_count(value: int | None) -> str:
    """Write a whole number."""
    return UNKNOWN if value is None else str(value)


def render_of(count: int | None, limit: int | None) -> str:
    """Write a count and its limit, `4/16`, or as much of it as is known."""
    return render_count(count) if limit is None else f"{render_count(count)}/{limit}"


def render_score(value: float | None) -> str:
    """Write a score with two digits behind the point."""
    return UNKNOWN if value is None else f"{value:.2f}"


def render_number(value: float | None) -> str:
    """Write a number as short as it can be: `3`, `0.5`, `41.2`, `12000`."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def render_memory(value_mb: float | None) -> str:
    """Write MiB, as GiB from one of them on: `512M`, `23.5G`."""
    if value_mb is None:
        return UNKNOWN
    return f"{value_mb:.0f}M" if value_mb < _MB_PER_GB else f"{value_mb / _MB_PER_GB:.1f}G"


def render_text(value: str | None) -> str:
    """Write a word; one that is missing is unknown."""
    return value or UNKNOWN


def render_words(values: list[str] | None) -> str:
    """Write a list of words; None is unknown, and no words are no text."""
    return UNKNOWN if values is None else " ".join(values)


def render_yes(value: bool | None) -> str:
    """Write a yes or a no."""
    return UNKNOWN if value is None else ("yes" if value else "no")


def render_clock(instant: datetime | None) -> str:
    """Write the time of day where the reader is, to the millisecond."""
    return UNKNOWN if instant is None else f"{instant.astimezone():%H:%M:%S.%f}"[:-3]


def render_instant(instant: datetime) -> str:
    """Write an instant as RFC 3339 in UTC, to the millisecond."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def instant_of(epoch_s: float | None) -> datetime | None:
    """Read seconds since the epoch; None for what no calendar has."""
    if epoch_s is None:
        return None
    try:
        return datetime.fromtimestamp(epoch_s, UTC)
    except (ValueError, OverflowError, OSError):
        return None
