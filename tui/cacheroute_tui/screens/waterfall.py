"""The way of one request as a waterfall: its rooms on one clock, predicted beside actual."""

from collections.abc import Mapping, Sequence

from cacheroute.console.amounts import render_latency, render_ms, render_ratio, render_wait
from cacheroute.console.cells import UNKNOWN, UNTOLD, pad
from cacheroute.console.columns import Tone
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.traces import Span as Room
from cacheroute.console.rows.traces import TraceRow
from cacheroute_tui.widgets.lines import Span, TextLine

_NAME_CELLS = 15
_TIME_CELLS = 9
_MIN_BAR_CELLS = 8
_LONG_MS = 10_000.0
_OFF_RATIO = 0.5
"""From here on a prediction is shown as wrong."""
_TERMS = (
    ("text", ("text_prepare_ms", "ready_wait_ms", "text_net_wait_ms", "text_prefill_ms"),
     "text_total_ms"),
    ("kv", ("kv_queue_wait_ms", "kv_transfer_ms", "kv_prepare_ms", "redis_kv_load_ms",
            "kv_ready_wait_ms", "residual_prefill_ms"), "kv_total_ms"),
)  # fmt: skip
_BESIDE = (
    "kdn_queue_penalty_ms", "margin_ms", "kv_bandwidth_mbps", "kv_bandwidth_source",
    "text_tokens", "reused_tokens", "residual_tokens",
)  # fmt: skip


def waterfall(
    row: TraceRow, decision: DecisionRow | None, width: int, *, is_ascii: bool = False
) -> list[TextLine]:
    """Draw one request for so many cells."""
    return [
        _head(row),
        _forecast(row),
        *_bars(row, width, is_ascii=is_ascii),
        *_decided(row, decision),
    ]


def _head(row: TraceRow) -> TextLine:
    tone: Tone = "good" if row.outcome == "ok" else "bad"
    facts = [
        Span(f" {row.request_id}", "title"),
        Span(f"  {row.instance_id or UNKNOWN}"),
        Span(f"  {row.outcome}", tone),
        Span(f"  {row.model or UNKNOWN}  {row.endpoint}  {row.caller}", "dim"),
    ]
    if row.attempts > 1:
        facts.append(Span(f"  {row.attempts} tries", "warn"))
    if row.error:
        facts.append(Span(f"  {row.error}", "bad"))
    return tuple(facts)


def _bars(row: TraceRow, width: int, *, is_ascii: bool) -> list[TextLine]:
    if not row.spans:
        return [(Span(" no room of it is known", "dim"),)]
    room = max(_MIN_BAR_CELLS, width - _NAME_CELLS - 2 * _TIME_CELLS - 4)
    whole_ms = max(row.e2e_ms, *(span.end_ms for span in row.spans), 0.001)
    head = f" {'room':<{_NAME_CELLS}}{'took':>{_TIME_CELLS}}{'predicted':>{_TIME_CELLS + 1}} "
    right = _time(whole_ms)
    lines: list[TextLine] = [
        (Span(head, "dim"), Span(f"0{' ' * max(1, room - 1 - len(right))}{right}", "dim"))
    ]
    lines += [_bar(span, room, whole_ms, is_ascii=is_ascii) for span in row.spans]
    return lines


def _bar(span: Room, room: int, whole_ms: float, *, is_ascii: bool) -> TextLine:
    begin = min(room - 1, int(span.start_ms / whole_ms * room))
    end = max(begin + 1, min(room, round(span.end_ms / whole_ms * room)))
    full, thought = ("#", "-") if is_ascii else ("█", "░")
    bar = " " * begin + full * (end - begin)
    spans = [
        Span(f" {pad(('· ' if span.within else '') + span.room, _NAME_CELLS)}",
             "dim" if span.within else "plain"),
        Span(f"{_time(span.took_ms):>{_TIME_CELLS}}"),
        Span(f"{_predicted(span):>{_TIME_CELLS + 1}} ", _tone_of(span.predicted_ms, span.took_ms)),
    ]  # fmt: skip
    predicted_end = 0
    if span.predicted_ms is not None:
        predicted_end = min(room, round((span.start_ms + span.predicted_ms) / whole_ms * room))
    spans.append(Span(bar, "dim" if span.within else "accent"))
    if predicted_end > end:
        spans.append(Span(thought * (predicted_end - end), "dim"))
    return tuple(spans)


def _predicted(span: Room) -> str:
    return UNKNOWN if span.predicted_ms is None else _time(span.predicted_ms)


def _tone_of(predicted_ms: float | None, actual_ms: float | None) -> Tone:
    if predicted_ms is None or not actual_ms:
        return "dim"
    return "warn" if abs(predicted_ms - actual_ms) / actual_ms > _OFF_RATIO else "plain"


def _forecast(row: TraceRow) -> TextLine:
    if row.predicted_ttft_ms is None:
        told = "no time to first token was predicted"
        if not row.has_story:
            told += ": only requests of a Scheduler, and those that ask for their meta, are"
        ttft = f"  ttft {render_latency(row.ttft_ms)}"
        return (Span(f" {told}", "dim"), Span(ttft if row.ttft_ms is not None else ""))
    return (
        Span(" ttft from the choice on:  "),
        Span(f"predicted {render_latency(row.predicted_ttft_ms)}", "title"),
        Span(f"  actual {render_latency(row.actual_ttft_ms)}", "title"),
        Span(f"  off by {render_ratio(row.predict_error_ratio)}",
             _tone_of(row.predicted_ttft_ms, row.actual_ttft_ms)),
    )  # fmt: skip


def _decided(row: TraceRow, decision: DecisionRow | None) -> list[TextLine]:
    if decision is None:
        return [(Span(" its decision is no longer known", "dim"),)]
    lines: list[TextLine] = [
        (
            Span(" chosen  ", "title"),
            Span(f"{decision.instance_id or UNKNOWN}  {decision.strategy}: {decision.reason}"),
        )
    ]
    injection = decision.injection
    if not injection:
        knowledge = f" knowledge  {row.path}" if row.path else " it names no knowledge"
        return [*lines, (Span(knowledge, "dim"),)]
    mode = injection.get("injection_mode")
    lines.append(
        (
            Span(" injection  ", "title"),
            Span(f"{mode}", "accent"),
            Span(f"  {injection.get('injection_reason') or ''}"),
            Span(f"  by {injection.get('injection_strategy') or UNTOLD}", "dim"),
            Span(f"  went as {row.path}" if row.path else "", "dim"),
        )
    )
    return lines + _terms(injection, mode)


def _terms(terms: Mapping[str, object], mode: object) -> list[TextLine]:
    lines: list[TextLine] = []
    for name, parts, total in _TERMS:
        if total not in terms:
            continue
        said = " + ".join(
            f"{_words(part)} {_amount(part, terms[part])}" for part in parts if terms.get(part)
        )
        is_chosen = isinstance(mode, str) and name in mode.lower()
        lines.append(
            (
                Span(f"   {name:<5}", "accent" if is_chosen else "plain"),
                Span(f"{_amount(total, terms[total]):>9}", "title"),
                Span(f"  of {said or 'nothing'}", "dim"),
            )
        )
    rest = [f"{_words(name)} {_amount(name, terms[name])}" for name in _BESIDE if name in terms]
    return [*lines, (Span(f"   {'  '.join(rest)}", "dim"),)] if rest else lines


def _time(value_ms: float) -> str:
    return render_latency(value_ms) if value_ms < _LONG_MS else render_wait(value_ms)


def _words(name: str) -> str:
    for unit in ("_ms", "_mbps"):
        name = name.removesuffix(unit)
    return name.replace("_", " ")


def _amount(name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if name.endswith("_ms"):
        return render_ms(float(value))
    return f"{value:g}{' Mbps' if name.endswith('_mbps') else ''}"


def decision_of(row: TraceRow, decisions: Sequence[DecisionRow]) -> DecisionRow | None:
    """Return the last decision for a request; None when it is no longer known."""
    found = row.decisions or [one for one in decisions if one.request_id == row.request_id]
    return found[0] if found else None
