"""Requests, their decisions and links, as a Proxy tells of them: for tests of screens."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.processes import ProcessRow
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import Span, TraceRow
from tests.tui.fleet import WALL_S, decisions


def room(name: str, start_ms: float, end_ms: float, predicted_ms: float | None = None,
         within: str | None = None) -> Span:  # fmt: skip
    """Return one room of a request."""
    return Span(
        room=name, start_ms=start_ms, end_ms=end_ms, predicted_ms=predicted_ms, within=within
    )


def request(seq: int, request_id: str, *, e2e_ms: float = 1_200.0) -> TraceRow:
    """Return a request of a Scheduler that went through every room."""
    return TraceRow(
        seq=seq, at=datetime.fromtimestamp(WALL_S - 60 + seq, UTC), request_id=request_id,
        endpoint="/v1/chat/completions", model="llama-3", stream=True, caller="scheduler",
        instance_id="inst-9001", attempts=1, status=200, outcome="ok", error=None, sent_ms=260.0,
        ttft_ms=400.0, e2e_ms=e2e_ms, prompt_tokens=900, completion_tokens=40, cached_tokens=None,
        path="kv", predicted_ttft_ms=350.0, actual_ttft_ms=395.0, predict_error_ratio=0.114,
        spans=(
            room("place", 0, 5), room("prepare queue", 5, 40),
            room("prepare", 40, 240, 180.0), room("inject", 60, 230, 160.0, "prepare"),
            room("ready queue", 240, 260, 100.0), room("prefill", 260, 400, 120.0),
            room("decode", 400, e2e_ms, 900.0),
        ),
        marks={}, has_story=True, decisions=(),
    )  # fmt: skip


def plain_request(seq: int, request_id: str) -> TraceRow:
    """Return a request without a story."""
    return replace(
        request(seq, request_id), caller="native", path=None, predicted_ttft_ms=None,
        actual_ttft_ms=None, predict_error_ratio=None, has_story=False,
        spans=(room("place", 0, 10), room("prefill", 10, 400), room("decode", 400, 1_200)),
    )  # fmt: skip


def decided(request_id: str) -> DecisionRow:
    """Return its decision, with what both ways were thought to cost."""
    injection: dict[str, object] = {
        "injection_strategy": "iws", "injection_mode": "kvcache",
        "injection_reason": "kv is faster", "text_total_ms": 800, "text_prepare_ms": 20,
        "ready_wait_ms": 100, "text_net_wait_ms": 0, "text_prefill_ms": 680, "kv_total_ms": 350,
        "kv_queue_wait_ms": 0, "kv_transfer_ms": 160, "kv_prepare_ms": 180,
        "redis_kv_load_ms": 10, "kv_ready_wait_ms": 0, "residual_prefill_ms": 60,
        "kdn_queue_penalty_ms": 5, "margin_ms": 100, "kv_bandwidth_mbps": 820,
        "kv_bandwidth_source": "link_snapshot",
    }  # fmt: skip
    return replace(decisions()[0], request_id=request_id, mode="kvcache", injection=injection)


def link(
    kdn: str, who: str | None, mbps: float | None, *, state: str | None = "alive",
    best: bool = False, metrics: Mapping[str, object] | None = None,
) -> LinkRow:  # fmt: skip
    """Return one link."""
    return LinkRow(
        kdn=kdn, reported_by=who, state=None if who == "static" else state, bandwidth_mbps=mbps,
        latency_ms=1.9, is_best=best, report_age_s=None if who == "static" else 0.4,
        metrics=dict(metrics or {}),
    )  # fmt: skip


def process(name: str, state: str = "running", *, ready: bool | None = True) -> ProcessRow:
    """Return one process of a stack."""
    runs = state == "running"
    return ProcessRow(
        name=name, kind=name.rstrip("0123456789-"), stack="demo", state=state, ready=ready,
        pid=4_242 if runs else None, restarts=2, uptime_s=61.0 if runs else None,
        cpu_percent=3.5, rss_mb=120.0, ports={"service": 8001}, urls={}, last_exit=None,
        why=None if ready else "it does not answer", log=f"/nowhere/{name}.log", argv=(),
    )  # fmt: skip
