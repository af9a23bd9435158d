"""A small fleet that stands still, and clocks that go when they are told to: for screens."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow
from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.rows.traces import TraceRow
from cacheroute.console.source import Capabilities, Panel, SourceFault, SourceKind
from cacheroute.core.clock import Instant
from cacheroute.wire.console import (
    Columns,
    ConsoleSnapshot,
    Identities,
    Lists,
    Pool,
    Proxy,
    SchedulerSide,
    Totals,
)
from cacheroute.wire.queue_rules import QueueRules

if TYPE_CHECKING:
    from cacheroute.wire.instances import InstanceRow

WALL_S = 1_764_512_581.0
"""Half past two on an afternoon in UTC."""

WEIGHTS = {
    "inflight": 1.0,
    "active_prepare": 1.0,
    "active_ready": 1.0,
    "pending_prefill_count": 0.0,
    "active_decode_count": 0.5,
    "predicted_total_backlog_ms": 0.001,
}
PORTS = (9001, 9004, 9002, 9008, 9007, 9005, 9003, 9010)
BOUNDS_S = [0.1, 0.25, 0.5, 1.0, 2.5]


class StillClock:
    """Stands until it is moved."""

    def __init__(self) -> None:
        self.passed_s = 0.0

    def now(self) -> Instant:
        """Return the moment it stands at."""
        return Instant(mono_s=1_000.0 + self.passed_s, wall_s=WALL_S + self.passed_s)

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.passed_s += seconds


class StillFleet:
    """A source whose pool is as it was made, until somebody changes `document`."""

    def __init__(self, document: ConsoleSnapshot, *, missing: Sequence[Panel] = ()) -> None:
        self.document = document
        self.looks = 0
        self.closed = False
        self.trouble: SourceFault | None = None
        """What every question is answered with, while there is one."""
        self.choices: Sequence[DecisionRow] = decisions()
        self.links: Sequence[LinkRow] = ()
        self.requests: Sequence[TraceRow] = ()
        self._missing = missing

    @property
    def kind(self) -> SourceKind:
        """What it is."""
        return "live"

    @property
    def name(self) -> str:
        """Its address."""
        return "http://127.0.0.1:8002"

    @property
    def capabilities(self) -> Capabilities:
        """What it cannot tell."""
        return Capabilities(missing=dict.fromkeys(self._missing, "not told"))

    def _may_answer(self) -> None:
        if self.trouble is not None:
            raise self.trouble

    async def look(self) -> Look:
        """Return the pool."""
        self._may_answer()
        self.looks += 1
        return Look(snapshot=self.document, url=self.name)

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        """Return the newest decisions."""
        self._may_answer()
        return self.choices[:last]

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Return the newest requests."""
        self._may_answer()
        return self.requests[:last]

    async def trace(self, request_id: str) -> TraceRow | None:
        """Return one request."""
        self._may_answer()
        return None

    async def topology(self) -> Sequence[LinkRow]:
        """Return the links."""
        self._may_answer()
        return self.links

    async def instance(self, instance_id: str) -> InstanceRow | None:
        """Return all of one Instance."""
        self._may_answer()
        # Loaded at once, it would be counted as memory of every console that is measured.
        from cacheroute.wire.instances import InstanceRow

        if instance_id not in self.document.ids:
            return None
        return InstanceRow.model_validate(
            {
                "instance_id": instance_id,
                "host": "127.0.0.1",
                "port": 9001,
                "registered_at": int(WALL_S) - 7_200,
                "last_seen_at": int(WALL_S),
                "is_alive": True,
                "tags": ["demo", "[b]bold[/b]"],
                "meta": {"engine": "vllm"},
                "capability_fingerprint": "5f2c",
                "resource": {
                    "raw_resource": {
                        "devices": {
                            "gpu": [
                                {"index": 0, "name": "A100", "utilization_pct": 63.0,
                                 "memory_used_mb": 30_000, "memory_total_mb": 81_920,
                                 "temperature_c": 61, "power_w": 290.0},
                                {"index": 1, "name": "A100", "utilization_pct": None,
                                 "memory_used_mb": None, "memory_total_mb": 81_920},
                            ]
                        }
                    }
                },
            }
        )  # fmt: skip

    async def raw(self, path: str) -> bytes:
        """Return a page."""
        self._may_answer()
        return b'{"ok": true, "path": "' + path.encode() + b'"}'

    def pages(self) -> Sequence[str]:
        """Return the paths there are."""
        return ("/debug/status",)

    async def close(self) -> None:
        """Note that nobody looks any more."""
        self.closed = True


def lost() -> SourceFault:
    """Return the fault of a Proxy that is not there."""
    return SourceFault(
        "cannot reach http://127.0.0.1:8002 (connection refused)", code="unreachable"
    )


def drawn_fleet() -> ConsoleSnapshot:
    """Return eight Instances in every state: the pool that the layouts were drawn for."""
    return ConsoleSnapshot(
        rev=1,
        generated_at=WALL_S,
        run="one",
        ttl_s=30,
        proxy=Proxy(
            proxy_id="proxy-a", version="0.1.0", strategy="least_load", uptime_s=8_040.0,
            draining=False, injection_strategy="iws",
        ),
        queue_rules=QueueRules(
            prepare_concurrency=2, ready_concurrency=4, max_queue=16, release_policy="ordered"
        ),
        pool=Pool(
            admission_state="accepting", accepting=5, degraded=1, rejecting=0, inflight=31,
            qps_1m=41.2, prepare_queue_depth=4, ready_queue_depth=9,
        ),
        totals=Totals(requests=1_000, ttft_counts=[0] * 6, ttft_bounds_s=BOUNDS_S),
        scheduler=SchedulerSide(
            state="registered", url="http://127.0.0.1:7002", state_age_s=7_980.0, heard_age_s=0.8
        ),
        weights=WEIGHTS,
        sources={"inflight": "proxy_lifecycle", "active_prepare": "queue_manager"},
        identities=Identities(
            ids=[f"inst-{port}" for port in PORTS],
            host="127.0.0.1",
            port=list(PORTS),
            origin="registered",
            models=Lists(values=[["llama-3"]], at=0),
            endpoints=Lists(values=[[]], at=0),
            tags=Lists(values=[["demo"]], at=0),
        ),
        instances=Columns(
            state=[*["alive"] * 6, "stale", "dead"],
            age_s=[0.4, 0.6, 0.2, 0.3, 0.9, 0.5, 41.0, 123.0],
            draining=[False] * 5 + [True, False, False],
            weight=1.0,
            ejected_for_s=0.0,
            inflight=[3, 4, 6, 7, 9, 2, 0, 0],
            score=[4.9, 6.92, 9.8, 12.0, 18.6, 2.3, None, None],
            prepare_queue_depth=[0, 1, 0, 1, 2, 0, None, None],
            ready_queue_depth=[1, 1, 2, 2, 3, 0, None, None],
            active_prepare=[0, 1, 0, 1, 2, 0, None, None],
            active_ready=[1, 1, 2, 2, 3, 0, None, None],
            pending_prefill_count=[0, 0, 0, 0, 0, 0, None, None],
            active_decode_count=[1, 0, 0, 0, 1, 0, None, None],
            next_slot_ready_in_ms=[0.0, 0.0, 200.0, 300.0, 900.0, 0.0, None, None],
            prefill_free_in_ms=[400.0, 920.0, 1_800.0, 2_000.0, 4_100.0, 300.0, None, None],
            predicted_total_backlog_ms=[
                400.0, 920.0, 1_800.0, 2_000.0, 4_100.0, 300.0, None, None
            ],
            cpu_util=[22.0, 31.0, 35.0, 38.0, 52.0, 11.0, None, None],
            memory_used_mb=[41.0, 44.0, 40.0, 45.0, 61.0, 39.0, None, None],
            memory_total_mb=100.0,
            gpu_util_avg=[63.0, 71.0, 80.0, 82.0, 97.0, 12.0, None, None],
            gpu_mem_used_mb=[38.0, 44.0, 52.0, 57.0, 91.0, 20.0, None, None],
            gpu_mem_total_mb=100.0,
            network_rx_mbps=[412.0, 812.0, 640.0, 655.0, 903.0, 40.0, None, None],
            network_tx_mbps=[51.0, 95.0, 70.0, 71.0, 120.0, 9.0, None, None],
            admission_state=[*["accepting"] * 4, "degraded", "accepting", None, None],
            report_age_s=[0.4, 0.6, 0.2, 0.3, 0.9, 0.5, 41.0, 123.0],
        ),
    )  # fmt: skip


def big_fleet(count: int, *, look: int = 0) -> ConsoleSnapshot:
    """Return so many Instances whose figures all change from look to look."""
    numbers = range(count)
    return ConsoleSnapshot(
        rev=look + 1,
        generated_at=WALL_S + look,
        run="one",
        ttl_s=30,
        proxy=Proxy(proxy_id="proxy-a", strategy="least_load", uptime_s=60.0 + look),
        pool=Pool(admission_state="accepting", accepting=count, degraded=0, rejecting=0,
                  inflight=3 * count, qps_1m=41.2, prepare_queue_depth=4, ready_queue_depth=9),
        totals=Totals(
            requests=1_000 + 40 * look, ttft_counts=[10 * look, 20 * look, 8 * look, look, 0, 0],
            ttft_bounds_s=BOUNDS_S,
        ),
        scheduler=SchedulerSide(state="registered", url="http://127.0.0.1:7002"),
        weights=WEIGHTS,
        identities=Identities(
            ids=[f"inst-{n:04}" for n in numbers],
            host=[f"10.0.{n // 250}.{n % 250 + 1}" for n in numbers],
            port=8000,
            origin="registered",
            models=Lists(values=[["llama-3"]], at=0),
            endpoints=Lists(values=[[]], at=0),
            tags=Lists(values=[["demo"]], at=0),
        ),
        instances=Columns(
            state="alive",
            age_s=[(n * 7 + look * 3) % 20 / 10 for n in numbers],
            inflight=[(n * 13 + look * 5) % 11 for n in numbers],
            score=[(n * 13 + look * 5) % 11 + (n * 5 + look) % 90 / 100 for n in numbers],
            prepare_queue_depth=[(n + look) % 3 for n in numbers],
            ready_queue_depth=[(n * 3 + look) % 4 for n in numbers],
            active_prepare=[(n + look) % 3 for n in numbers],
            active_ready=[(n * 3 + look) % 4 for n in numbers],
            active_decode_count=[(n + look) % 2 for n in numbers],
            pending_prefill_count=0,
            predicted_total_backlog_ms=[float((n * 17 + look * 11) % 1_900) for n in numbers],
            cpu_util=[float((n * 3 + look) % 97) for n in numbers],
            memory_used_mb=[float((n * 5 + look) % 79) for n in numbers],
            memory_total_mb=100.0,
            gpu_util_avg=[float((n * 7 + look * 3) % 94) for n in numbers],
            gpu_mem_used_mb=[float((n * 11 + look) % 97) for n in numbers],
            gpu_mem_total_mb=100.0,
            network_rx_mbps=[float((n * 31 + look * 7) % 999) for n in numbers],
            network_tx_mbps=[float((n * 37 + look * 9) % 199) for n in numbers],
            admission_state="accepting",
            report_age_s=0.5,
        ),
    )  # fmt: skip


def decisions() -> list[DecisionRow]:
    """Return five decisions, the newest first: clear, tied, blind and refused ones."""
    told: list[tuple[str, str | None, float | None, str | None, float | None, int, str]] = [
        ("r-8f2c", "inst-9001", 4.9, "inst-9004", 6.92, 5, "lowest score"),
        ("r-8f2b", "inst-9004", 4.9, "inst-9001", 4.9, 5, "tie, by turns"),
        ("r-8f2a", "inst-9001", 3.9, "inst-9004", 5.92, 5, "lowest score"),
        ("r-8f29", "inst-9002", None, None, None, 5, "no signal for any candidate"),
        ("r-8f28", None, None, None, None, 0, "no Instance is eligible"),
    ]
    return [
        DecisionRow(
            seq=100 - at,
            at=datetime.fromtimestamp(WALL_S - 0.5 * at, UTC),
            request_id=request,
            attempt=1,
            strategy="least_load",
            model="llama-3",
            endpoint="/v1/chat/completions",
            instance_id=who,
            cost=cost,
            runner_up=next_,
            runner_up_cost=next_cost,
            considered=considered,
            skipped={} if who else {"draining": 1, "dead": 4},
            reason=reason,
            mode=None,
            injection=None,
        )
        for at, (request, who, cost, next_, next_cost, considered, reason) in enumerate(told)
    ]
