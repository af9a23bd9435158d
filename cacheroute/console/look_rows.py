"""Columns turned into rows, a thousand of them in a few milliseconds.

By the same rules as from the published endpoints: of an Instance that is not alive no measure is
known, for an old one says nothing about now.
"""

from cacheroute.console.rows.instances import FleetRow, address_in, in_fleet_order, percent_of
from cacheroute.console.rows.loads import LoadRow, in_load_order
from cacheroute.console.rows.resources import ResourceRow
from cacheroute.console.rows.scores import ScoreRow, Term, ranked, why_excluded
from cacheroute.console.rows.states import Liveness, liveness_of, shown_state
from cacheroute.wire.console import ConsoleSnapshot, Identities, spread, spread_lists

SIGNALS = (
    "inflight",
    "active_prepare",
    "active_ready",
    "prepare_queue_depth",
    "ready_queue_depth",
    "pending_prefill_count",
    "active_decode_count",
    "predicted_total_backlog_ms",
    "qps_1m",
)
"""Every signal that a score may weigh; each is a column of its name."""


def fleet_rows(snapshot: ConsoleSnapshot, passed_s: float = 0.0) -> list[FleetRow]:
    """Return a row for each Instance; alive ones first, the least loaded on top."""
    it, ttl_s = snapshot.instances, snapshot.ttl_s
    who = snapshot.identities or Identities()
    ids, count = snapshot.ids, len(snapshot.ids)
    rows = []
    for (
        id_, host, port, base_path, said, age_s, inflight, qps_1m, score, cpu, mem, mem_all,
        beat_gpu, gpu, admission, weight, origin, draining, ejected_for_s, models, endpoints, tags,
        gpu_mem, gpu_mem_all, rx, tx, report_age_s, prepare, ready, prefill, decode, backlog_ms,
        skew_ms,
    ) in zip(
        ids, spread(who.host, count), spread(who.port, count), spread(who.base_path, count),
        spread(it.state, count), spread(it.age_s, count), spread(it.inflight, count),
        spread(it.qps_1m, count), spread(it.score, count), spread(it.cpu_util, count),
        spread(it.memory_used_mb, count), spread(it.memory_total_mb, count),
        spread(it.gpu_util, count), spread(it.gpu_util_avg, count),
        spread(it.admission_state, count), spread(it.weight, count), spread(who.origin, count),
        spread(it.draining, count), spread(it.ejected_for_s, count),
        spread_lists(who.models, count), spread_lists(who.endpoints, count),
        spread_lists(who.tags, count), spread(it.gpu_mem_used_mb, count),
        spread(it.gpu_mem_total_mb, count), spread(it.network_rx_mbps, count),
        spread(it.network_tx_mbps, count), spread(it.report_age_s, count),
        spread(it.prepare_queue_depth, count), spread(it.ready_queue_depth, count),
        spread(it.pending_prefill_count, count), spread(it.active_decode_count, count),
        spread(it.predicted_total_backlog_ms, count), spread(it.clock_skew_ms, count),
        strict=True,
    ):  # fmt: skip
        age = None if age_s is None else age_s + passed_s
        state: Liveness = "alive"
        if said != "alive":
            state = liveness_of(is_alive=False, said=said, age_s=age, ttl_s=ttl_s)
            qps_1m = score = cpu = mem = beat_gpu = gpu = admission = None
            gpu_mem = rx = tx = prepare = ready = prefill = decode = backlog_ms = None
        rows.append(
            FleetRow(
                id=id_,
                address=address_in(host or "", port or 0, base_path or ""),
                state=state,
                inflight=inflight,
                qps_1m=qps_1m,
                score=score,
                cpu_util=cpu,
                memory_util=percent_of(mem, mem_all),
                gpu_util=beat_gpu if gpu is None else gpu,
                admission_state=admission,
                age_s=age,
                weight=1.0 if weight is None else weight,
                origin=origin,
                draining=bool(draining),
                ejected_for_s=max(0.0, ejected_for_s - passed_s) if ejected_for_s else 0.0,
                models=models,
                endpoints=endpoints or [],
                tags=tags or [],
                gpu_memory_util=percent_of(gpu_mem, gpu_mem_all),
                network_rx_mbps=rx,
                network_tx_mbps=tx,
                report_age_s=None if report_age_s is None else report_age_s + passed_s,
                prepare_queue_depth=prepare,
                ready_queue_depth=ready,
                pending_prefill_count=prefill,
                active_decode_count=decode,
                backlog_ms=backlog_ms,
                clock_skew_ms=skew_ms,
            )
        )
    return in_fleet_order(rows)


def load_rows(snapshot: ConsoleSnapshot) -> list[LoadRow]:
    """Return the load of each Instance; alive ones first, the least loaded on top."""
    it = snapshot.instances
    ids, count = snapshot.ids, len(snapshot.ids)
    return in_load_order(
        LoadRow(
            id=id_,
            is_alive=state == "alive",
            inflight=inflight,
            qps_1m=qps_1m,
            prepare_queue_depth=prepare,
            ready_queue_depth=ready,
            active_prepare=preparing,
            active_ready=released,
            pending_prefill_count=prefill,
            active_decode_count=decode,
            next_slot_ready_in_ms=slot_ms,
            prefill_free_in_ms=free_ms,
            predicted_total_backlog_ms=backlog_ms,
            score=score,
        )
        for (
            id_, state, inflight, qps_1m, prepare, ready, preparing, released, prefill, decode,
            slot_ms, free_ms, backlog_ms, score,
        ) in zip(
            ids, spread(it.state, count), spread(it.inflight, count),
            spread(it.qps_1m, count), spread(it.prepare_queue_depth, count),
            spread(it.ready_queue_depth, count), spread(it.active_prepare, count),
            spread(it.active_ready, count), spread(it.pending_prefill_count, count),
            spread(it.active_decode_count, count), spread(it.next_slot_ready_in_ms, count),
            spread(it.prefill_free_in_ms, count), spread(it.predicted_total_backlog_ms, count),
            spread(it.score, count), strict=True,
        )
    )  # fmt: skip


def resource_rows(snapshot: ConsoleSnapshot, passed_s: float = 0.0) -> list[ResourceRow]:
    """Return what each host has left, by id; alive ones first."""
    it, who = snapshot.instances, snapshot.identities or Identities()
    ids, count = snapshot.ids, len(snapshot.ids)
    rows = [
        ResourceRow(
            id=id_,
            host=host or "",
            is_alive=state == "alive",
            cpu_util=cpu,
            memory_util=percent_of(mem, mem_all),
            memory_used_mb=mem,
            memory_total_mb=mem_all,
            gpu_util=gpu,
            gpu_util_current=gpu_now,
            gpu_util_max=gpu_max,
            gpu_memory_util=percent_of(gpu_mem, gpu_mem_all),
            gpu_memory_used_mb=gpu_mem,
            gpu_memory_total_mb=gpu_mem_all,
            gpu_sample_quality=quality,
            gpu_sample_source=source,
            gpu_sample_age_ms=sample_age_ms,
            network_rx_mbps=rx,
            network_tx_mbps=tx,
            admission_state=admission,
            report_age_s=None if report_age_s is None else report_age_s + passed_s,
        )
        for (
            id_, host, state, cpu, mem, mem_all, gpu, gpu_now, gpu_max, gpu_mem, gpu_mem_all,
            quality, source, sample_age_ms, rx, tx, admission, report_age_s,
        ) in zip(
            ids, spread(who.host, count), spread(it.state, count),
            spread(it.cpu_util, count), spread(it.memory_used_mb, count),
            spread(it.memory_total_mb, count), spread(it.gpu_util_avg, count),
            spread(it.gpu_util_current, count), spread(it.gpu_util_max, count),
            spread(it.gpu_mem_used_mb, count), spread(it.gpu_mem_total_mb, count),
            spread(it.gpu_sample_quality, count), spread(it.gpu_sample_source, count),
            spread(it.gpu_sample_age_ms, count), spread(it.network_rx_mbps, count),
            spread(it.network_tx_mbps, count), spread(it.admission_state, count),
            spread(it.report_age_s, count), strict=True,
        )
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row.is_alive is False, row.id))


def score_rows(snapshot: ConsoleSnapshot, passed_s: float = 0.0) -> list[ScoreRow]:
    """Return what least_load makes of each Instance, in the order that it prefers."""
    it, weights, sources = snapshot.instances, snapshot.weights, snapshot.sources
    ids, count = snapshot.ids, len(snapshot.ids)
    weighed = tuple((name, weights[name]) for name in SIGNALS if name in weights)
    values = [spread(getattr(it, name), count) for name, _ in weighed]
    rows = []
    for at, (id_, said, age_s, inflight, score, share, draining, ejected_for_s) in enumerate(
        zip(
            ids, spread(it.state, count), spread(it.age_s, count), spread(it.inflight, count),
            spread(it.score, count), spread(it.weight, count), spread(it.draining, count),
            spread(it.ejected_for_s, count),
            strict=True,
        )
    ):  # fmt: skip
        age = None if age_s is None else age_s + passed_s
        liveness = liveness_of(is_alive=said == "alive", said=said, age_s=age, ttl_s=snapshot.ttl_s)
        rest_s = max(0.0, (ejected_for_s or 0.0) - passed_s)
        state = shown_state(liveness, draining=bool(draining), ejected_for_s=rest_s)
        share = 1.0 if share is None else share
        rows.append(
            ScoreRow(
                id=id_,
                state=state,
                rank=None,
                score=score,
                share=share,
                terms=tuple(
                    Term(
                        signal=name,
                        value=float(column[at]),
                        weight=weight,
                        weighted=column[at] * weight if weight else None,
                        source=sources.get(name),
                    )
                    for (name, weight), column in zip(weighed, values, strict=True)
                    if column[at] is not None
                ),
                excluded=why_excluded(
                    state,
                    liveness,
                    inflight=inflight,
                    ejected_for_s=rest_s,
                    weight=share,
                    score=score,
                ),
                behind=None,
                what_if_score=None,
                what_if_rank=None,
            )
        )
    return ranked(rows)
