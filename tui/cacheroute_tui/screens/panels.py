"""What more than one screen shows of the pool: its summary, and one Instance."""

from collections.abc import Sequence

from cacheroute.console.alerts import Alert
from cacheroute.console.cells import UNTOLD, cells
from cacheroute.console.history import History
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.rows.scores import parts_of
from cacheroute.console.rows.states import RANKS, SIGNS, TONES, Shown
from cacheroute.console.sparks import spark
from cacheroute.console.standing import place_word
from cacheroute.console.store import Seen
from cacheroute_tui.amounts import render_count, render_duration, render_number, render_percent
from cacheroute_tui.drawing import Ink
from cacheroute_tui.widgets.lines import Span, TextLine

_SCHEDULER_SIGNS = {"registered": ("●", "good"), "registering": ("◐", "warn")}


def summary_line(seen: Seen, width: int = 79) -> TextLine:
    """Return the pool in one line; where it is long, alerts and states outlast the rest."""
    for left_out in _LEFT_OUT:
        spans = _summary(seen, left_out)
        if sum(cells(span.text) for span in spans) <= width:
            break
    return spans


_LEFT_OUT: tuple[frozenset[str], ...] = (
    frozenset(), frozenset({"strategy"}), frozenset({"strategy", "queues"}),
)  # fmt: skip


def _summary(seen: Seen, left_out: frozenset[str]) -> TextLine:
    found = seen.overview
    counts = _states_of(seen.rows)
    spans = [Span(f" {len(seen.rows)} inst ")]
    for shown, count in counts.items():
        if count:
            spans.append(Span(f"{SIGNS[shown]}{count} ", TONES[shown]))
    spans.append(Span(f"  infl {render_count(found.inflight)}"))
    if "queues" not in left_out:
        spans.append(Span(f"  prep {render_count(found.prepare_queue_depth)}"))
        spans.append(Span(f" rdy {render_count(found.ready_queue_depth)}"))
    if "strategy" not in left_out:
        spans.append(Span(f"  {found.strategy or UNTOLD}"))
    if found.scheduler is not None:
        sign, tone = _SCHEDULER_SIGNS.get(found.scheduler.state, ("✕", "bad"))
        spans.append(Span(f"  sched {sign}", tone))  # type: ignore[arg-type]
    spans += [Span("  "), *alert_count(seen.alerts)]
    return spans


def _states_of(rows: Sequence[FleetRow]) -> dict[Shown, int]:
    counts: dict[Shown, int] = dict.fromkeys(SIGNS, 0)
    for row in rows:
        counts[row.shown] += 1
    return counts


def in_order(seen: Seen) -> list[FleetRow]:
    """Return the Instances: who may be chosen first, the least loaded on top."""
    return sorted(seen.rows, key=lambda row: RANKS[row.shown])


def state_counts(rows: Sequence[FleetRow]) -> dict[Shown, int]:
    """Count the Instances by the word for how they are."""
    return _states_of(rows)


def alert_count(alerts: Sequence[Alert]) -> list[Span]:
    """Say how many are active; the worst of them comes first."""
    if not alerts:
        return [Span("no alerts", "dim")]
    worst: Ink = alerts[0].severity
    word = "alert" if len(alerts) == 1 else "alerts"
    return [Span(f"▲{len(alerts)} {word}", worst)]


def instance_title(seen: Seen, instance_id: str) -> str:
    """Return an Instance and its place in the choice: `i-4 · rank 2/5 · behind i-1: infl +1`."""
    standing = seen.standing(instance_id)
    parts = [instance_id]
    if standing is not None and standing.rank is not None:
        word = place_word(seen.look.snapshot.proxy.strategy)
        parts.append(f"{word} {standing.rank}/{standing.of}")
    elif standing is not None and standing.row.excluded is not None:
        parts.append(f"not in the choice: {standing.row.excluded}")
    if standing is not None and standing.behind is not None:
        parts.append(standing.behind)
    return " · ".join(parts)


def score_line(seen: Seen, instance_id: str) -> TextLine:
    """Return the score of one Instance as a sum."""
    standing = seen.standing(instance_id)
    if standing is None or standing.row.score is None:
        return [Span(" score "), Span(UNTOLD), Span("  nothing is known to weigh", "dim")]
    row = standing.row
    share = "" if row.share in (None, 1.0) else f" / weight {row.share:g}"
    parts = parts_of(row)
    if share and " + " in parts:
        parts = f"({parts})"
    return [Span(" score "), Span(f"{row.score:.2f}", "title"), Span(f" = {parts}{share}")]


def load_line(row: FleetRow, history: History, *, width: int, as_ascii: bool) -> TextLine:
    """Return what the host of one Instance does, with the trend of its GPU."""
    trend = history.trend(row.id, "gpu", last=width)
    drawn = spark(trend, width, top=100.0, as_ascii=as_ascii)
    net = f"rx {render_number(row.network_rx_mbps)} tx {render_number(row.network_tx_mbps)} Mbps"
    return [
        Span(" gpu "),
        Span(drawn, "accent"),
        Span(f" {render_percent(row.gpu_util)}  mem {render_percent(row.memory_util)}  {net}"),
        Span(f"  adm {row.admission_state or UNTOLD}  {render_duration(row.report_age_s)}"),
    ]
