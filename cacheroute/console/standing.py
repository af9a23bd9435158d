"""How one Instance stands in the choice: its score, part by part, and what puts it behind.

Only that one and the first are worked out, so it costs the same in a pool of any size.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute.console.amounts import render_duration
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.look import Look
from cacheroute.console.look_rows import SIGNALS
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.scores import ScoreRow, difference

LETTERS: Mapping[str, str] = {
    "inflight": "i",
    "active_prepare": "p",
    "prepare_queue_depth": "p",
    "active_ready": "r",
    "ready_queue_depth": "r",
    "pending_prefill_count": "f",
    "active_decode_count": "d",
    "predicted_total_backlog_ms": "b",
    "qps_1m": "q",
}
"""One letter for each signal, so that a bar of parts needs no colour."""
LETTER_NAMES: Mapping[str, str] = {
    "i": "inflight", "p": "prepare", "r": "ready", "f": "prefill", "d": "decode", "b": "backlog",
    "q": "req/s",
}  # fmt: skip
"""What each letter stands for, in a word; requests that wait and that run share one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The place of one Instance among those in the choice."""

    row: ScoreRow
    rank: int | None
    """1 is first; equals share a number; None when it is not in the choice."""
    of: int
    """How many are in the choice."""
    behind: str | None
    """`behind i-1: infl +1`; None for the first."""


def place_word(strategy: str | None) -> str:
    """Name a place in the order of scores: a rank where they choose, and a comparison elsewhere."""
    return "rank" if strategy == "least_load" else "by score"


def why_not_chosen(row: FleetRow) -> str | None:
    """Say in a few words why an Instance is not in the choice; None when it is."""
    match row.shown:
        case "stale":
            return "last seen > ttl"
        case "dead":
            return "expired"
        case "drain":
            return f"draining ({UNKNOWN if row.inflight is None else row.inflight} left)"
        case "ejected":
            return f"rests {render_duration(row.ejected_for_s)}"
    if row.weight == 0:
        return "its weight is 0"
    return "no signal is known" if row.score is None else None


def standing_of(instance_id: str, look: Look) -> Standing | None:
    """Work out one standing; None where nothing is told of the Instance."""
    within = [row for row in look.instances if why_not_chosen(row) is None]
    first = min(within, key=lambda row: (row.score or 0.0, row.id), default=None)
    few = look.only(instance_id, *([] if first is None else [first.id])).scores
    row = next((one for one in few if one.id == instance_id), None)
    if row is None:
        return None
    rank = None
    if row.excluded is None and row.score is not None:
        rank = 1 + sum(1 for one in within if (one.score or 0.0) < row.score)
    behind = difference(row, few) if rank is not None and rank > 1 else None
    return Standing(row=row, rank=rank, of=len(within), behind=behind)


def points_of(instance_id: str, look: Look) -> dict[str, float]:
    """Return the parts of a score, each signal's value times its weight."""
    snapshot = look.snapshot
    try:
        at = snapshot.ids.index(instance_id)
    except ValueError:
        return {}
    found = {}
    for signal in SIGNALS:
        weight = snapshot.weights.get(signal)
        column = getattr(snapshot.instances, signal)
        value = column[at] if isinstance(column, list) else column
        if weight and value:
            found[signal] = value * weight
    return found


def letters_of(points: Mapping[str, float], width: int, *, scale: float = 1.0) -> str:
    """Draw the parts of a score as letters: `iiii p r b`; at most so many cells.

    A point is `scale` letters, and each part is one at least. Where rows are compared they need
    one scale; see `scale_of`.
    """
    parts = _by_letter(points)
    return _drawn(parts, min(scale, _fitting(parts, width)))[:width]


def scale_of(points: Mapping[str, float], width: int) -> float:
    """Return how many letters a point may be for these parts to have room; at most 1."""
    return _fitting(_by_letter(points), width)


def _by_letter(points: Mapping[str, float]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for signal, weighted in points.items():
        letter = LETTERS.get(signal, "?")
        parts[letter] = parts.get(letter, 0.0) + weighted
    return {letter: weighted for letter, weighted in parts.items() if weighted > 0}


def _fitting(parts: Mapping[str, float], width: int) -> float:
    total = sum(parts.values())
    scale = min(1.0, width / total) if total else 1.0
    # Each part has a letter at least and a blank before it, so that is only nearly enough.
    for _ in range(_TRIES):
        if len(_drawn(parts, scale)) <= width:
            break
        scale *= _SMALLER
    return scale


_TRIES, _SMALLER = 20, 0.9


def _drawn(parts: Mapping[str, float], scale: float) -> str:
    return " ".join(letter * max(1, round(count * scale)) for letter, count in parts.items())
