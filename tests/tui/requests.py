"""Requests that have ended, and links to knowledge nodes: what the fleet of tests is told of."""

from datetime import UTC, datetime

from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import Span, TraceRow
from tests.tui.fleet import WALL_S

_ROOMS = ("place", "prepare queue", "prepare", "ready queue", "prefill", "decode")


def request(number: int, instance_id: str, path: str | None = "kv_inject") -> TraceRow:
    """Return one whose rooms are longer the higher its number is."""
    took = (1, 4 + number, 12 + 2 * number, 9 + number, 120 + 20 * number, 600)
    ends = [float(sum(took[: at + 1])) for at in range(len(took))]
    begins = [0.0, *ends[:-1]]
    spans = [
        Span(room=room, start_ms=begin, end_ms=end, predicted_ms=None)
        for room, begin, end in zip(_ROOMS, begins, ends, strict=True)
    ]
    if path == "kv_inject":
        spans.append(
            Span(
                room="inject", start_ms=begins[2], end_ms=ends[2], predicted_ms=11.0,
                within="prepare",
            )
        )  # fmt: skip
    first_ms = ends[4]
    actual_ms = predicted_ms = error = None
    if path is not None:
        actual_ms, predicted_ms = first_ms - 1, 150.0 + 10 * number
        error = abs(predicted_ms - actual_ms) / actual_ms
    return TraceRow(
        seq=100 - number,
        at=datetime.fromtimestamp(WALL_S - 2 * number, UTC),
        request_id=f"r-{number:04x}",
        endpoint="/v1/chat/completions",
        model="llama-3",
        stream=True,
        caller="scheduler" if path else "native",
        instance_id=instance_id,
        attempts=1,
        status=200,
        outcome="ok",
        error=None,
        sent_ms=ends[3],
        ttft_ms=first_ms,
        e2e_ms=ends[5],
        prompt_tokens=100,
        completion_tokens=30,
        cached_tokens=0,
        path=path,
        predicted_ttft_ms=predicted_ms,
        actual_ttft_ms=actual_ms,
        predict_error_ratio=error,
        spans=tuple(spans),
        marks={},
        has_story=path is not None,
        decisions=(),
    )


def requests(count: int = 12) -> list[TraceRow]:
    """Return the newest first, of two Instances by turns, with knowledge and without."""
    who, paths = ("inst-9007", "inst-9001"), ("kv_inject", "text_inject", None)
    return [request(n, who[n % 2], paths[n % 3]) for n in range(count)]


def links() -> list[LinkRow]:
    """Return one that an Instance measured, and one from the settings."""
    return [
        LinkRow(
            kdn=kdn, reported_by=who, state="alive", bandwidth_mbps=bandwidth,
            latency_ms=latency, is_best=True, report_age_s=1.0, metrics={},
        )
        for kdn, who, bandwidth, latency in (
            ("kdn-1", "inst-9001", 820.0, 1.9),
            ("kdn-2", "static", 90.0, 14.0),
        )
    ]  # fmt: skip
