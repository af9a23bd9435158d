"""The columns of the Instances on a screen: the registry's, under shorter headers, and a trend."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from cacheroute.console.amounts import render_duration, render_ms
from cacheroute.console.cells import UNKNOWN, UNTOLD
from cacheroute.console.columns import Column
from cacheroute.console.history import History
from cacheroute.console.rows.instances import INSTANCES, FleetRow
from cacheroute.console.rows.screen_columns import DRAWN
from cacheroute.console.sparks import spark
from cacheroute.console.standing import letters_of, scale_of, why_not_chosen
from cacheroute.console.store import Seen

TREND_SERIES = "inflight"

_SHAPES: dict[str, tuple[str, int | None]] = {
    "sign": (" ", 1),
    "id": ("ID", None),
    "address": ("ADDRESS", None),
    "state": ("STATE", 7),
    "admission_state": ("ADM", 4),
    "inflight": ("INFL", 4),
    "prepare_queue_depth": ("PRE", 3),
    "ready_queue_depth": ("RDY", 3),
    "pending_prefill_count": ("PFIL", 4),
    "active_decode_count": ("DEC", 3),
    "backlog_ms": ("BACKLOG", 7),
    "score": ("SCORE", 6),
    "cpu_util": ("CPU", 3),
    "memory_util": ("MEM", 4),
    "gpu_util": ("GPU", 4),
    "gpu_memory_util": ("GMEM", 4),
    "age_s": ("AGE", 5),
}
"""Header and width of each on a screen, where every cell counts."""

_USUAL = (
    "sign", "id", "state", "inflight", "prepare_queue_depth", "ready_queue_depth", "backlog_ms",
    "score", "cpu_util", "memory_util", "gpu_util",
)  # fmt: skip
_WIDE = (
    "sign", "id", "address", "state", "admission_state", "inflight", "prepare_queue_depth",
    "ready_queue_depth", "pending_prefill_count", "active_decode_count", "backlog_ms", "score",
    "parts", "cpu_util", "memory_util", "gpu_util", "gpu_memory_util", "network", "ttft_p95",
)  # fmt: skip
_RANKS = {
    "address": 9, "parts": 8, "network": 7, "gpu_memory_util": 6,
    "ttft_p95": 5, "trend": 5, "prepare_queue_depth": 4, "ready_queue_depth": 4, "cpu_util": 4,
    "memory_util": 3, "backlog_ms": 2, "gpu_util": 1, "pending_prefill_count": 6,
    "active_decode_count": 6, "admission_state": 6,
}  # fmt: skip
"""Which go first when there is no room; age and score never do."""

_PERCENTS = frozenset(("cpu_util", "memory_util", "gpu_util", "gpu_memory_util"))
_ADMISSION = {"accepting": "acc", "degraded": "deg!", "rejecting": "rej!"}


def fleet_columns(
    *,
    is_wide: bool,
    trend_width: int,
    history: Callable[[], History],
    look: Callable[[], Seen | None],
    since_s: Callable[[], float],
    as_ascii: bool,
    chosen: Sequence[str] = (),
) -> Sequence[Column[FleetRow]]:
    """Return the columns, left to right; `since_s` is how long ago the rows were true.

    Those that were chosen replace the usual ones.
    """
    more = {
        "parts": _parts(look),
        "network": _NETWORK,
        "trend": _trend(history, look, trend_width, as_ascii=as_ascii),
        "ttft_p95": _first_token(look),
        "age_s": _age(since_s),
    }
    names = chosen or (*(_WIDE if is_wide else _USUAL), "trend", "age_s")
    return [more[name] if name in more else _narrowed(name) for name in names]


def _narrowed(name: str) -> Column[FleetRow]:
    column = INSTANCES.column(name)
    header, width = _SHAPES.get(name, (column.header, column.width))
    text = column.text
    if name in _PERCENTS:
        text = _without_percent(text)
    elif name == "admission_state":
        text = _short_admission
    return replace(
        column, header=header, width=width, text=text, rank=_RANKS.get(name, 0),
        gives_way=name in ("id", "address"),
    )  # fmt: skip


def _without_percent(text: Callable[[FleetRow], str]) -> Callable[[FleetRow], str]:
    return lambda row: text(row).replace("%", "")


def _short_admission(row: FleetRow) -> str:
    said = row.admission_state
    return UNKNOWN if said is None else _ADMISSION.get(said, said)


def _age(since_s: Callable[[], float]) -> Column[FleetRow]:
    column = _narrowed("age_s")

    def text(row: FleetRow) -> str:
        return render_duration(None if row.age_s is None else row.age_s + since_s())

    return replace(column, text=text)


def _trend(
    history: Callable[[], History],
    look: Callable[[], Seen | None],
    width: int,
    *,
    as_ascii: bool,
) -> Column[FleetRow]:
    def text(row: FleetRow) -> str:
        now = look()
        top = max(1, now.most_inflight if now else 0)
        values = history().trend(row.id, TREND_SERIES, last=width * _EVERY)
        return spark(_thinned(values, _EVERY), width, top=top, as_ascii=as_ascii)

    return Column(
        key="trend",
        header="TREND",
        text=text,
        value=lambda row: row.inflight,
        doc=DRAWN["trend"],
        width=width,
        rank=_RANKS["trend"],
        ages=True,
    )


_EVERY = 6
"""Looks that one cell of a trend stands for: ten cells are a minute of one a second."""


def _thinned(values: Sequence[float], every: int) -> list[float]:
    """Take the highest of so many values; a gap only where all are."""
    found = []
    for end in range(len(values), 0, -every):
        some = [value for value in values[max(0, end - every) : end] if value == value]
        found.append(max(some) if some else float("nan"))
    return found[::-1]


def _first_token(look: Callable[[], Seen | None]) -> Column[FleetRow]:
    def p95_ms(row: FleetRow) -> float | None:
        now = look()
        told = now.first_tokens.get(row.id) if now else None
        return None if told is None else told.p95_ms

    return Column(
        key="ttft_p95",
        header="TTFTp95",
        text=lambda row: render_ms(p95_ms(row)).replace(" ", ""),
        value=p95_ms,
        doc=DRAWN["ttft_p95"],
        width=7,
        right=True,
        rank=_RANKS["ttft_p95"],
        lacks=True,
    )


def _network(row: FleetRow) -> str:
    return "/".join(map(_rate, (row.network_rx_mbps, row.network_tx_mbps)))


def _rate(mbps: float | None) -> str:
    if mbps is None:
        return UNTOLD
    return f"{mbps:.0f}" if mbps >= _WHOLE_FROM_MBPS else f"{mbps:.1f}"


_WHOLE_FROM_MBPS = 9.95
_NETWORK: Column[FleetRow] = Column(
    key="network",
    header="RX/TX Mbps",
    text=_network,
    value=lambda row: row.network_rx_mbps,
    doc=DRAWN["network"],
    width=10,
    right=True,
    rank=_RANKS["network"],
)


def _parts(look: Callable[[], Seen | None]) -> Column[FleetRow]:
    scaled: tuple[Seen | None, float] = (None, 1.0)

    def scale(now: Seen) -> float:
        nonlocal scaled
        if scaled[0] is not now:
            # Letters are compared from row to row, so the highest score rules for all.
            chosen = [row for row in now.rows if why_not_chosen(row) is None]
            top = max(chosen, key=lambda row: row.score or 0.0, default=None)
            scaled = (now, 1.0 if top is None else scale_of(now.points(top.id), _PARTS_WIDTH))
        return scaled[1]

    def text(row: FleetRow) -> str:
        now = look()
        if now is None:
            return ""
        if (why := why_not_chosen(row)) is not None:
            return why
        return letters_of(now.points(row.id), _PARTS_WIDTH, scale=scale(now))

    return Column(
        key="parts",
        header="SCORE PARTS",
        text=text,
        value=lambda row: row.score,
        doc=DRAWN["parts"],
        width=_PARTS_WIDTH,
        rank=_RANKS["parts"],
    )


_PARTS_WIDTH = 20
