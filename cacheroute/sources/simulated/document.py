"""The simulated pool as the document that a Proxy would send."""

from collections.abc import Sequence

from cacheroute.core.injection.paths import summed_up
from cacheroute.core.predict.errors import quantile
from cacheroute.core.pressure import Pressure
from cacheroute.core.routing.load import QUEUE_SIGNALS, load_cost, signals
from cacheroute.sources.simulated.fleet import TTL_S, Fleet
from cacheroute.sources.simulated.instance import (
    GPU_MEMORY_MB,
    MEMORY_MB,
    PREPARED_AT_ONCE,
    SLOTS,
    SimInstance,
)
from cacheroute.sources.simulated.nodes import nodes
from cacheroute.sources.simulated.stories import TTFT_BOUNDS_S
from cacheroute.wire.console import (
    Columns,
    ConsoleSnapshot,
    Identities,
    Knowledge,
    Lists,
    Pool,
    PredictionErrors,
    Proxy,
    SchedulerSide,
    Totals,
)
from cacheroute.wire.console_columns import folded
from cacheroute.wire.queue_rules import QueueRules

PROXY_ID = "proxy-demo"
SCHEDULER_URL = "http://127.0.0.1:7002"
_HEARTBEAT_S = 5.0
_MAX_QUEUE = 64
_SOURCES = {
    "inflight": "proxy_lifecycle_counter",
    "qps_1m": "instance_heartbeat",
    **dict.fromkeys(QUEUE_SIGNALS, "proxy_queue_manager"),
}


def document(fleet: Fleet, *, wall_s: float, run: str) -> ConsoleSnapshot:
    """Return the pool as of the last step; `wall_s` is the time of day of it."""
    instances, now_s = fleet.instances, fleet.now_s
    alive = [each for each in instances if each.state(now_s, TTL_S) == "alive"]
    pressures = [each.pressure(now_s) for each in instances]
    of = {each.id: pressure for each, pressure in zip(instances, pressures, strict=True)}
    told = fleet.stories
    counts = summed_up(told.by_path)
    return ConsoleSnapshot(
        rev=fleet.changes,
        generated_at=wall_s,
        run=run,
        ttl_s=int(TTL_S),
        proxy=Proxy(
            proxy_id=PROXY_ID,
            version="demo",
            strategy="least_load",
            uptime_s=now_s,
            draining=False,
            injection_strategy="iws",
        ),
        pool=_pool(alive, [of[each.id] for each in alive]),
        totals=_totals(fleet),
        knowledge=Knowledge(
            kv_inject=counts.kv_inject, text_inject=counts.text_inject, fallback=counts.fallback
        ),
        kdn=nodes(fleet),
        prediction_errors=PredictionErrors(
            count=len(told.errors),
            window=len(told.errors),
            p50_ratio=quantile(told.errors, 0.5),
            p90_ratio=quantile(told.errors, 0.9),
        ),
        scheduler=SchedulerSide(
            state="registered",
            url=SCHEDULER_URL,
            state_age_s=now_s,
            proxy_id=PROXY_ID,
            registrations=1,
            heartbeats=int(now_s / _HEARTBEAT_S),
            heard_age_s=now_s % _HEARTBEAT_S,
            heartbeat_interval_s=_HEARTBEAT_S,
        ),
        queue_rules=QueueRules(
            prepare_concurrency=PREPARED_AT_ONCE,
            ready_concurrency=SLOTS,
            max_queue=_MAX_QUEUE,
            wait_at_cap=False,
            release_policy="ordered",
            text_bypass_max_per_flush=1,
        ),
        weights=dict(fleet.weights.as_mapping()),
        sources=_SOURCES,
        who=1,
        identities=_identities(instances),
        instances=_columns(fleet, pressures),
    )


def _identities(instances: Sequence[SimInstance]) -> Identities:
    models = sorted({model for each in instances for model in each.models})
    return Identities(
        ids=[each.id for each in instances],
        host=folded([each.host for each in instances]),
        port=folded([each.port for each in instances]),
        origin="registered",
        models=Lists(
            values=[[model] for model in models],
            at=folded([models.index(each.models[0]) for each in instances]),
        ),
        endpoints=Lists(values=[["chat/completions", "completions"]]),
        tags=Lists(values=[["demo"]]),
        own_weight=1.0,
    )


def _columns(fleet: Fleet, pressures: Sequence[Pressure]) -> Columns:
    instances, now_s = fleet.instances, fleet.now_s
    by_name = fleet.weights.as_mapping()
    costs = [
        load_cost(signals(inflight=each.inflight, pressure=pressure), by_name)
        for each, pressure in zip(instances, pressures, strict=True)
    ]
    told = [each.reported_s is not None for each in instances]
    return Columns(
        state=folded([each.state(now_s, TTL_S) for each in instances]),
        age_s=folded([round(now_s - each.seen_s, 3) for each in instances]),
        draining=folded([each.is_draining for each in instances]),
        ejected_for_s=folded([round(each.rests_s(now_s), 3) for each in instances]),
        inflight=folded([each.inflight for each in instances]),
        score=folded([None if cost is None else cost.total for cost in costs]),
        cpu_util=_of(told, [each.cpu_util for each in instances]),
        memory_used_mb=_of(told, [each.memory_used_mb for each in instances]),
        memory_total_mb=_of(told, [MEMORY_MB] * len(instances)),
        gpu_util_avg=_of(told, [each.gpu_util for each in instances]),
        gpu_util_current=_of(told, [each.gpu_util for each in instances]),
        gpu_mem_used_mb=_of(told, [each.gpu_mem_used_mb for each in instances]),
        gpu_mem_total_mb=_of(told, [GPU_MEMORY_MB] * len(instances)),
        network_rx_mbps=_of(told, [each.rx_mbps for each in instances]),
        network_tx_mbps=_of(told, [each.tx_mbps for each in instances]),
        gpu_sample_source=folded(["simulated" if known else None for known in told]),
        gpu_sample_quality=folded(["ok" if known else None for known in told]),
        admission_state=folded([each.admission_state for each in instances]),
        report_age_s=folded(
            [
                None if each.reported_s is None else round(now_s - each.reported_s, 3)
                for each in instances
            ]
        ),
        requests=folded([each.requests for each in instances]),
        failures=folded([each.failures for each in instances]),
        prepare_queue_depth=folded([each.prepare_queue_depth for each in pressures]),
        ready_queue_depth=folded([each.ready_queue_depth for each in pressures]),
        active_prepare=folded([each.active_prepare for each in pressures]),
        active_ready=folded([each.active_ready for each in pressures]),
        pending_prefill_count=folded([each.pending_prefill_count for each in pressures]),
        active_decode_count=folded([each.active_decode_count for each in pressures]),
        next_slot_ready_in_ms=folded([each.next_slot_ready_in_ms for each in pressures]),
        prefill_free_in_ms=folded([each.prefill_free_in_ms for each in pressures]),
        predicted_total_backlog_ms=folded([each.predicted_total_backlog_ms for each in pressures]),
    )


def _of(told: Sequence[bool], values: Sequence[float]) -> list[float | None] | float | None:
    """Keep what was reported; what was not is unknown, not 0."""
    kept = [value if known else None for known, value in zip(told, values, strict=True)]
    return folded(kept)


def _pool(alive: Sequence[SimInstance], pressures: Sequence[Pressure]) -> Pool:
    words = [each.admission_state for each in alive]
    reporting = [each for each in alive if each.reported_s is not None]
    accepting, degraded, rejecting = map(words.count, ("accepting", "degraded", "rejecting"))
    state = "degraded" if len(reporting) < len(alive) or degraded or rejecting else "accepting"
    if not alive or rejecting == len(alive):
        state = "rejecting"
    return Pool(
        admission_state=state,
        admission_reason=(
            f"Of {len(alive)} alive: {accepting} accepting, {degraded} degraded, "
            f"{rejecting} rejecting, {len(alive) - len(reporting)} without a snapshot."
        ),
        accepting=accepting,
        degraded=degraded,
        rejecting=rejecting,
        inflight=sum(each.inflight for each in alive),
        prepare_queue_depth=sum(each.prepare_queue_depth for each in pressures),
        ready_queue_depth=sum(each.ready_queue_depth for each in pressures),
        cpu_util_avg=_mean([each.cpu_util for each in reporting]),
        memory_used_percent=_mean([100 * each.memory_used_mb / MEMORY_MB for each in reporting]),
        gpu_util_avg=_mean([each.gpu_util for each in reporting]),
        gpu_mem_used_percent=_mean(
            [100 * each.gpu_mem_used_mb / GPU_MEMORY_MB for each in reporting]
        ),
        network_rx_mbps=sum(each.rx_mbps for each in reporting),
        network_tx_mbps=sum(each.tx_mbps for each in reporting),
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _totals(fleet: Fleet) -> Totals:
    told = fleet.stories
    requests = sum(each.requests for each in fleet.instances)
    prompt_tokens, completion_tokens = told.tokens
    return Totals(
        requests=requests,
        failures=told.failed,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        ttft_counts=list(told.ttft_counts),
        ttft_bounds_s=list(TTFT_BOUNDS_S),
        decisions=told.decided,
        traces=told.ended,
    )
