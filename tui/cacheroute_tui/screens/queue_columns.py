"""The columns of queues on a screen: the registry's under shorter headers, and what is ahead."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import Column, Tone
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.loads import LoadRow, is_at, of_limit
from cacheroute.console.rows.queues import QUEUES
from cacheroute.console.rows.states import SIGNS, TONES
from cacheroute.console.rules import Rules

_SHAPES: dict[str, tuple[str, int | None, int]] = {
    "id": ("ID", None, 0),
    "prepare_queue_depth": ("P-Q", 6, 0),
    "active_prepare": ("PREP", 5, 3),
    "ready_queue_depth": ("R-Q", 6, 0),
    "active_ready": ("RUN", 6, 3),
    "pending_prefill_count": ("PFIL", 4, 2),
    "active_decode_count": ("DEC", 4, 2),
    "next_slot_ready_in_ms": ("SLOT", 6, 1),
    "prefill_free_in_ms": ("FREE", 6, 4),
    "predicted_total_backlog_ms": ("BACKLOG", 7, 0),
    "inflight": ("INFL", 4, 5),
}
"""Header, width and rank of each on a screen."""
_LIMITS = {
    "prepare_queue_depth": "queue_limit",
    "active_prepare": "prepare_limit",
    "ready_queue_depth": "queue_limit",
    "active_ready": "ready_limit",
}
"""What each of them may be at most."""
_WAITS = frozenset({"prepare_queue_depth", "ready_queue_depth"})
_AHEAD_RANK = 6


def queue_columns(
    *,
    ahead_cells: int,
    longest_ms: Callable[[], float],
    fleet_row: Callable[[str], FleetRow | None],
    rules: Rules,
    as_ascii: bool,
) -> Sequence[Column[LoadRow]]:
    """Return the columns, left to right; `longest_ms` is what fills the bar of the last one."""
    found = [_sign(fleet_row), *map(_narrowed, _SHAPES)]
    found = [
        replace(column, tone=_backlog_tone(rules))
        if column.key == "predicted_total_backlog_ms"
        else column
        for column in found
    ]
    return [*found, _ahead(ahead_cells, longest_ms, as_ascii=as_ascii)]


def _narrowed(name: str) -> Column[LoadRow]:
    header, width, rank = _SHAPES[name]
    column = replace(
        QUEUES.column(name), header=header, width=width, rank=rank, gives_way=name == "id"
    )
    if width is not None and name in _LIMITS:
        return replace(column, text=_of_limit(name, width))
    return column


def _of_limit(name: str, width: int) -> Callable[[LoadRow], str]:
    """Return what writes `4/16`, `4` where that has no room, and `!` behind a full queue."""

    write = of_limit(name, _LIMITS[name])

    def text(row: LoadRow) -> str:
        count = getattr(row, name)
        mark = "!" if name in _WAITS and is_at(count, getattr(row, _LIMITS[name])) else ""
        whole = write(row) + mark
        return whole if len(whole) <= width else f"{count}{mark}"

    return text


def _sign(fleet_row: Callable[[str], FleetRow | None]) -> Column[LoadRow]:
    def shown(row: LoadRow) -> str:
        found = fleet_row(row.id)
        return " " if found is None else SIGNS[found.shown]

    def tone(row: LoadRow) -> Tone:
        found = fleet_row(row.id)
        return "dim" if found is None else TONES[found.shown]

    return Column(
        key="sign", header=" ", text=shown, value=shown, tone=tone, width=1,
        doc="The state as a sign.",
    )  # fmt: skip


def _backlog_tone(rules: Rules) -> Callable[[LoadRow], Tone]:
    def tone(row: LoadRow) -> Tone:
        return "warn" if (row.predicted_total_backlog_ms or 0.0) > rules.backlog_ms else "plain"

    return tone


def ahead_bar(row: LoadRow, width: int, longest_ms: float, *, as_ascii: bool) -> str:
    """Draw what a new request waits for: a slot, then prompts that are read before it."""
    slot_ms, free_ms = row.next_slot_ready_in_ms, row.prefill_free_in_ms
    if slot_ms is None and free_ms is None:
        return UNKNOWN
    slot_ms, free_ms = slot_ms or 0.0, free_ms or 0.0
    until_slot = round(min(1.0, slot_ms / longest_ms) * width)
    until_free = round(min(1.0, max(slot_ms, free_ms) / longest_ms) * width)
    wait, read = ("r", "f") if as_ascii else ("▒", "█")
    return wait * until_slot + read * (until_free - until_slot)


def _ahead(width: int, longest_ms: Callable[[], float], *, as_ascii: bool) -> Column[LoadRow]:
    return Column(
        key="ahead",
        header="AHEAD",
        text=lambda row: ahead_bar(row, width, longest_ms(), as_ascii=as_ascii),
        value=lambda row: row.predicted_total_backlog_ms,
        doc="What a new request waits for: until a slot is free (light), then until the prompts "
        "that are there have been read (full); the longest wait of the pool fills it.",
        source="predicted by the Proxy",
        width=width,
        rank=_AHEAD_RANK,
        lacks=True,
    )
