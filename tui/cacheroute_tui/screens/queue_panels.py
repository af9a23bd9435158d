"""What stands around the queues: the pool's figures, the lanes of requests, and knowledge."""

from collections.abc import Mapping, Sequence

from rich.style import Style

from cacheroute.console.amounts import (
    render_latency,
    render_number,
    render_of,
    render_ratio,
    render_wait,
)
from cacheroute.console.cells import UNKNOWN, clip, pad, printable
from cacheroute.console.cells import cells as cells_of
from cacheroute.console.queueing import Queueing, render_queue
from cacheroute.console.rows.loads import LoadRow
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.slots import (
    ROOM_LETTERS,
    Lane,
    cell_of,
    lanes_of,
    letters_of,
    paths_of,
    scale_of,
    transfers_of,
)
from cacheroute.console.store import Seen
from cacheroute_tui.widgets.column_layout import shortened
from cacheroute_tui.widgets.lines import Span, TextLine

TRANSFERS_OVER_S = 60.0


def figures_line(look: Seen) -> TextLine:
    """Return the queues of the whole pool in one line: what is under way of its limit + waits."""
    rows = [row for row in look.queues if row.is_alive]
    queued, rules = look.look.queueing, look.overview.queue_rules
    prepare = render_queue(queued.preparing, queued.prepare_limit, queued.waiting_to_prepare)
    ready = render_queue(queued.released, queued.ready_limit, queued.waiting_ready)
    spans = [Span(f" prep {prepare} · ready {ready}")]
    if queued.full:
        spans.append(Span(f" · FULL {_named(queued.full)}!", "bad"))
    longest = max(
        (row for row in rows if row.predicted_total_backlog_ms is not None),
        key=lambda row: row.predicted_total_backlog_ms or 0.0,
        default=None,
    )
    if longest is not None:
        wait = render_wait(longest.predicted_total_backlog_ms)
        is_long = (longest.predicted_total_backlog_ms or 0.0) > look.rules.backlog_ms
        spans.append(Span(f" · max {wait} {longest.id}", "warn" if is_long else "plain"))
    if rules is None:
        spans.append(Span(" · limits ?  this Proxy does not tell", "dim"))
    else:
        spans.append(Span(f" · release {rules.release_policy or '?'}"))
    spans.append(Span(f" · pfil {_sum(rows, 'pending_prefill_count')}"))
    spans.append(Span(f" dec {_sum(rows, 'active_decode_count')}"))
    return spans


def _named(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{ids[0]} +{len(ids) - 1}"


def _sum(rows: Sequence[LoadRow], name: str) -> str:
    known = [value for row in rows if (value := getattr(row, name)) is not None]
    return str(sum(known)) if known else UNKNOWN


def forecast_line(row: LoadRow) -> TextLine:
    """Return what the Proxy predicts of one Instance now."""
    return [
        Span(f" slot in {render_wait(row.next_slot_ready_in_ms)}"),
        Span(f" · prompts read in {render_wait(row.prefill_free_in_ms)}"),
        Span(f" · a new request waits {render_wait(row.predicted_total_backlog_ms)}", "accent"),
    ]


def lane_lines(
    traces: Sequence[TraceRow],
    instance_id: str,
    *,
    room: int,
    width: int,
    inks: Sequence[Style],
    missing: str | None,
    as_ascii: bool,
) -> list[TextLine]:
    """Return the newest requests of an Instance, a lane each, or why there are none."""
    if missing is not None:
        return [[Span(f" no requests: {missing}", "dim")]]
    name_cells = 10 if width < 100 else 18
    told_cells = 26
    cells = width - name_cells - told_cells - 3
    if cells < 8 or room < 1:
        return []
    lanes = lanes_of(traces, instance_id, room - 1 if room > 1 else 1)
    if not lanes:
        return [[Span(f" no request of {instance_id} has ended lately", "dim")]]
    scale_ms = scale_of(lanes)
    lines = [_lane_line(lane, cells, name_cells, scale_ms, inks, as_ascii) for lane in lanes]
    if room > 1:
        mark = "|" if as_ascii else "┃"
        letters = " ".join(f"{ROOM_LETTERS[name]} {name}" for name in (
            "prepare queue", "prepare", "ready queue", "prefill", "decode"))  # fmt: skip
        right = f"{mark} predicted first token"
        legend = f" {right}  {letters}  0 to {scale_ms:.0f} ms"
        lines.append([Span(clip(legend, width), "dim")])
    return lines


def _lane_line(
    lane: Lane, cells: int, name_cells: int, scale_ms: float, inks: Sequence[Style], as_ascii: bool
) -> TextLine:
    letters = letters_of(lane, cells, scale_ms)
    mark_at = cell_of(lane.predicted_ms, cells, scale_ms)
    spans = [Span(f" {pad(_ending(lane.row.request_id, name_cells), name_cells)} ")]
    order = list(ROOM_LETTERS.values())
    begin = 0
    for at in range(1, cells + 1):
        is_end = at == cells or letters[at] != letters[at - 1]
        if not is_end and mark_at not in (at, at - 1):
            continue
        if begin == mark_at:
            spans.append(Span("|" if as_ascii else "┃", "title"))
        else:
            letter = letters[begin]
            if letter in order and inks:
                spans.append(Span(letters[begin:at], inks[order.index(letter) % len(inks)]))
            else:
                spans.append(Span(letters[begin:at]))
        begin = at
    row = lane.row
    error = row.predict_error_ratio
    predicted = "" if row.predicted_ttft_ms is None else f" /{row.predicted_ttft_ms:.0f}"
    shown_ms = row.actual_ttft_ms if row.actual_ttft_ms is not None else lane.first_token_ms
    actual = UNKNOWN if shown_ms is None else f"{shown_ms:.0f}"
    off = "" if error is None else f" {_signed(row)}"
    is_bad = error is not None and error > 0.5
    spans.append(Span(f" {actual}{predicted} ms{off}", "warn" if is_bad else "plain"))
    return spans


def _ending(name: str, width: int) -> str:
    """Cut a name at its beginning: names of requests differ in how they end."""
    name = printable(name)
    if cells_of(name) <= width:
        return name
    kept = name[-width:]
    while cells_of(kept) > width - 1:
        kept = kept[1:]
    return f"…{kept}"


def _mbps(value: float | None) -> str:
    # A fast link has more digits than short numbers are written with.
    return f"{value:.0f}" if value is not None and value >= 1_000 else render_number(value)


def _signed(row: TraceRow) -> str:
    """Write the error as the list of traces has it, and with a plus where it took longer."""
    error, actual, predicted = row.predict_error_ratio, row.actual_ttft_ms, row.predicted_ttft_ms
    if error is None or actual is None or predicted is None:
        return render_ratio(error)
    return f"{'+' if actual >= predicted else '-'}{error:.0%}"


def knowledge_lines(look: Seen, missing: Mapping[str, str], *, room: int) -> list[TextLine]:
    """Return how knowledge came in, and what the links to its nodes do."""
    counts = look.look.snapshot.knowledge
    lines: list[TextLine] = []
    if counts is None:
        lines.append([Span(" paths ?  the Proxy does not tell", "dim")])
    else:
        total = counts.kv_inject + counts.text_inject + counts.fallback
        spans = [Span(f" {total} requests with knowledge ")]
        for name, count in (
            ("kv", counts.kv_inject), ("text", counts.text_inject), ("fallback", counts.fallback),
        ):  # fmt: skip
            share = f" {count / total:.0%}" if total else ""
            tone = "warn" if name == "fallback" and count else "plain"
            spans.append(Span(f"· {name} {count}{share} ", tone))  # type: ignore[arg-type]
        lines.append(spans)
    if "traces" in missing:
        lines.append([Span(f" lately ?  {missing['traces']}", "dim")])
    else:
        paths = paths_of(look.traces)
        told = " · ".join(f"{path} {count}" for path, count in paths.items())
        lines.append(
            [Span(f" lately  {told or 'none named knowledge'}", "plain" if told else "dim")]
        )
        lines.append(_transfer_line(look))
    if "topology" in missing:
        lines.append([Span(f" links ?  {missing['topology']}", "dim")])
    else:
        lines += _link_lines(look.links, max(1, room - len(lines)))
    return lines[:room]


def _transfer_line(look: Seen) -> TextLine:
    found = transfers_of(look.traces, now_s=look.look.at_s, over_s=TRANSFERS_OVER_S)
    now = _in_use(look.look.queueing)
    if not found.count:
        idle = " idle for a minute" if not look.look.queueing.kv_links_busy else ""
        return [Span(f" KV links{now}{idle}".removesuffix(","), "dim")]
    return [
        Span(
            f" KV links{now} busy {found.busy_ratio:.1%} of a minute · {found.count} transfers · "
        ),
        Span(f"median {render_latency(found.took_ms)}, "),
        Span(f"predicted {render_latency(found.predicted_ms)}"),
    ]


def _in_use(queued: Queueing) -> str:
    busy, known = queued.kv_links_busy, queued.kv_links
    return "" if busy is None else f" {render_of(busy, known or None)} now,"


def _link_lines(links: Sequence[LinkRow], room: int) -> list[TextLine]:
    best = [link for link in links if link.is_best]
    if not best:
        return [[Span(" no link to a knowledge node is known", "dim")]]
    shown = best if len(best) <= room else best[: max(0, room - 1)]
    lines: list[TextLine] = [
        [
            Span(f" {pad(shortened(printable(link.kdn), 22), 22)} "),
            Span(f"{_mbps(link.bandwidth_mbps)} Mbps "),
            Span(f"{render_latency(link.latency_ms)}  "),
            Span(f"by {link.reported_by or '?'}", "dim"),
        ]
        for link in shown
    ]
    if len(shown) < len(best):
        lines.append([Span(f" {len(best) - len(shown)} more links: 6", "dim")])
    return lines
