"""One request written out: a bar for each of its rooms, on one clock, and what was predicted."""

from cacheroute.console.amounts import render_clock, render_latency, render_number, render_ratio
from cacheroute.console.cells import UNKNOWN, pad
from cacheroute.console.columns import Tone
from cacheroute.console.lines import Line
from cacheroute.console.rows.traces import Span, TraceRow

BAR_CELLS = 26
_FULL, _SOME = "■", "·"
"""Both take one cell, and both have a letter for terminals without them."""


def waterfall(row: TraceRow, *, cells: int = BAR_CELLS) -> list[Line]:
    """Write a request as lines; the bars take so many cells."""
    return [*_head(row), *(_room(span, row.e2e_ms, cells) for span in row.spans), *_foot(row)]


def bar(start_ms: float, end_ms: float, whole_ms: float, cells: int) -> str:
    """Draw a stretch of a whole; the shortest still shows, as a dot."""
    if cells < 1:
        return ""
    if whole_ms <= 0:
        return _SOME + " " * (cells - 1)
    begin = min(cells - 1, int(_share(start_ms, whole_ms) * cells))
    length = min(cells - begin, round(_share(end_ms - start_ms, whole_ms) * cells))
    drawn = _FULL * length or _SOME
    return pad(" " * begin + drawn, cells)


def _share(part_ms: float, whole_ms: float) -> float:
    return min(1.0, max(0.0, part_ms / whole_ms))


def _head(row: TraceRow) -> list[Line]:
    tone: Tone = "plain" if row.outcome == "ok" else "bad"
    facts = [
        row.request_id,
        row.instance_id or "nobody",
        row.outcome if row.status is None else f"{row.outcome} {row.status}",
        render_clock(row.at),
        f"took {render_latency(row.e2e_ms)}",
    ]
    lines = [Line(label="request", facts=tuple(facts), tone=tone)]
    asked = [fact for fact in (row.endpoint, row.model, row.caller, row.path) if fact]
    lines.append(Line(label="", facts=tuple(asked)))
    if row.error:
        lines.append(Line(label="error", facts=(row.error,), tone="bad"))
    return lines


def _room(span: Span, whole_ms: float, cells: int) -> Line:
    predicted = f"  predicted {render_latency(span.predicted_ms)}" if span.predicted_ms else ""
    name = f"· {span.room}" if span.within else span.room
    drawn = bar(span.start_ms, span.end_ms, whole_ms, cells)
    fact = f"{pad(name, 14)}{drawn}{render_latency(span.took_ms):>10}{predicted}"
    return Line(label="", facts=(fact,))


def _foot(row: TraceRow) -> list[Line]:
    lines = []
    if row.ttft_ms is not None:
        facts = [render_latency(row.ttft_ms)]
        if row.predicted_ttft_ms is not None:
            facts.append(
                f"from its choice {render_latency(row.actual_ttft_ms)}, "
                f"predicted {render_latency(row.predicted_ttft_ms)}"
            )
        if row.predict_error_ratio is not None:
            facts.append(f"off by {render_ratio(row.predict_error_ratio)}")
        lines.append(Line(label="ttft", facts=tuple(facts)))
    tokens = (row.prompt_tokens, row.cached_tokens, row.completion_tokens)
    if any(count is not None for count in tokens):
        prompt, cached, answer = (UNKNOWN if n is None else render_number(n) for n in tokens)
        facts = [f"prompt {prompt}", f"of them cached {cached}", f"answer {answer}"]
        lines.append(Line(label="tokens", facts=tuple(facts)))
    lines += [
        Line(label="" if place else "why", facts=(decision.reason,))
        for place, decision in enumerate(row.decisions)
    ]
    return lines
