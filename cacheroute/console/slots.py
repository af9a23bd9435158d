"""Which rooms the last requests of an Instance passed and when: predicted beside actual.

Each request is a lane that begins with its arrival. What was predicted is the moment of its
first token; it is counted from the choice of the Instance, which is a little later.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cacheroute.console.rows.traces import Span, TraceRow

ROOM_LETTERS: Mapping[str, str] = {
    "place": ".",
    "prepare queue": "q",
    "prepare": "p",
    "ready queue": "r",
    "prefill": "f",
    "decode": "d",
    "answer": "a",
}
"""One letter for each room, those of a score where there is one, so that no colour is needed."""

_TRANSFER = "inject"
_SHARE_OF_FIRST_TOKEN = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One request."""

    row: TraceRow
    rooms: tuple[Span, ...]
    """In order, without those within another."""
    first_token_ms: float | None
    """From its arrival; None where it is not known."""
    predicted_ms: float | None
    """When its first token was to come, from its arrival; None without a prediction."""


def lanes_of(rows: Iterable[TraceRow], instance_id: str | None, most: int) -> list[Lane]:
    """Return lanes for the newest requests of one Instance, or of all; the newest first."""
    found: list[Lane] = []
    for row in rows:
        if len(found) >= most:
            break
        if instance_id is None or row.instance_id == instance_id:
            found.append(_lane(row))
    return found


def _lane(row: TraceRow) -> Lane:
    rooms = tuple(span for span in row.spans if span.within is None)
    first_ms = next((span.end_ms for span in rooms if span.room == "prefill"), row.ttft_ms)
    predicted_ms = row.predicted_ttft_ms
    if predicted_ms is not None:
        chosen_ms = 0.0
        if first_ms is not None and row.actual_ttft_ms is not None:
            chosen_ms = max(0.0, first_ms - row.actual_ttft_ms)
        predicted_ms += chosen_ms
    return Lane(row=row, rooms=rooms, first_token_ms=first_ms, predicted_ms=predicted_ms)


def scale_of(lanes: Sequence[Lane]) -> float:
    """Return how many milliseconds a drawing shows, so that all first tokens are in it."""
    moments = [lane.first_token_ms for lane in lanes] + [lane.predicted_ms for lane in lanes]
    known = [moment for moment in moments if moment is not None]
    ends = [lane.row.e2e_ms for lane in lanes]
    if not known:
        return max(ends, default=1.0) or 1.0
    return max(1.0, min(max(known) / _SHARE_OF_FIRST_TOKEN, max([*ends, *known])))


def letters_of(lane: Lane, width: int, scale_ms: float) -> str:
    """Draw the rooms as letters; a room too short for a cell is drawn all the same."""
    cells = [" "] * width
    for span in lane.rooms:
        first = int(span.start_ms / scale_ms * width)
        last = max(first, int(span.end_ms / scale_ms * width - 1e-9))
        for cell in range(max(0, first), min(last, width - 1) + 1):
            cells[cell] = ROOM_LETTERS.get(span.room, "?")
    return "".join(cells)


def cell_of(moment_ms: float | None, width: int, scale_ms: float) -> int | None:
    """Return the cell of a moment; None where it is not known or beyond the drawing."""
    if moment_ms is None or moment_ms < 0:
        return None
    cell = int(moment_ms / scale_ms * width)
    return cell if cell < width else None


def paths_of(rows: Iterable[TraceRow]) -> Mapping[str, int]:
    """Count the requests that named knowledge by how it went, the most frequent first."""
    return dict(Counter(row.path for row in rows if row.path is not None).most_common())


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfers:
    """What became of KV on the links to the Instances, as far as the last requests tell."""

    count: int
    busy_ratio: float
    """Share of the time in which at least one transfer went on."""
    took_ms: float | None
    """Median; None without any."""
    predicted_ms: float | None


def transfers_of(rows: Iterable[TraceRow], *, now_s: float, over_s: float) -> Transfers:
    """Sum up the transfers of the last so many seconds; `now_s` is since the epoch."""
    spans: list[tuple[float, float]] = []
    took: list[float] = []
    predicted: list[float] = []
    since_s = now_s - over_s
    for row in rows:
        if row.at is None:
            continue
        came_s = row.at.timestamp()
        for span in row.spans:
            begin_s, end_s = came_s + span.start_ms / 1000, came_s + span.end_ms / 1000
            if span.room != _TRANSFER or end_s < since_s:
                continue
            spans.append((max(since_s, begin_s), min(now_s, end_s)))
            took.append(span.took_ms)
            if span.predicted_ms is not None:
                predicted.append(span.predicted_ms)
    return Transfers(
        count=len(took),
        busy_ratio=_covered(spans) / over_s,
        took_ms=_median(took),
        predicted_ms=_median(predicted),
    )


def _covered(spans: list[tuple[float, float]]) -> float:
    covered, until = 0.0, float("-inf")
    for begin, end in sorted(spans):
        covered += max(0.0, end - max(begin, until))
        until = max(until, end)
    return covered


def _median(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None
