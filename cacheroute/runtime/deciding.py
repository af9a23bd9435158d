"""Room 3: text or KV, from what is known of the chosen Instance at this moment.

Everything is worked out in the turn of the choice and noted at once, so the next request sees
what this one will do to the link and to the Instance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cacheroute.core.injection.cost import LOOKUP_MS, Situation, estimate
from cacheroute.core.injection.decide import decide as decide_injection
from cacheroute.core.task import KVCACHE, TEXT

if TYPE_CHECKING:
    from cacheroute.core.dispatch.links import LinkKey
    from cacheroute.core.injection.rules import InjectionRules
    from cacheroute.core.pool_member import Member
    from cacheroute.core.task import Task
    from cacheroute.core.topology import Topology
    from cacheroute.runtime.passage import Passage
    from cacheroute.runtime.proxy import Proxy


class Decider:
    """Decides, and remembers what was decided where others look."""

    def __init__(self, proxy: Proxy, topology: Topology, rules: InjectionRules) -> None:
        self._decisions = proxy.decisions
        self._turnstiles = proxy.turnstiles
        self._forecasts = proxy.forecasts
        self._topology = topology
        self._rules = rules

    def decide(self, task: Task, passage: Passage) -> None:
        """Choose text or KV, and count what that will keep busy: the link, the Instance."""
        member, trace = passage.member, passage.story.trace
        gate, now_mono_s = passage.gate, passage.placed_mono_s
        key: LinkKey = (member.instance.instance_id, task.kdn_address)
        situation = self._situation(task, member, key, now_mono_s)
        free_in_ms = gate.board.wait_ms(now_mono_s)
        factors = self._forecasts.of(member).corrections.factors
        coefficients = self._forecasts.coefficients
        own_ms = situation.link_active_in_ms + (situation.rtt_ms or 0.0) + LOOKUP_MS
        situation = replace(
            situation, ready_wait_ms=gate.upcoming.wait_ms(now_mono_s, free_in_ms, own_ms)
        )
        first = estimate(
            task, situation, coefficients=coefficients, rules=self._rules, factors=factors
        )
        if first is not None:
            # Who becomes ready while our KV is on the link goes first, so KV waits for more.
            kv_wait_ms = gate.upcoming.wait_ms(now_mono_s, free_in_ms, first.kv_prepare_ms)
            kv_service_ms = first.redis_kv_load_ms + first.residual_prefill_ms
            situation = replace(
                situation,
                kv_ready_wait_ms=kv_wait_ms,
                text_delay_ms=gate.upcoming.delay_ms(
                    now_mono_s, free_in_ms, first.text_prepare_ms, first.text_prefill_ms
                ),
                kv_delay_ms=gate.upcoming.delay_ms(
                    now_mono_s, free_in_ms, first.kv_prepare_ms, kv_service_ms
                ),
            )
        decision = passage.decision = decide_injection(
            task, situation, coefficients=coefficients, rules=self._rules, factors=factors
        )
        trace.put_all(decision.as_wire())
        trace.put("injection_mode", decision.mode)
        self._decisions.explain_injection(decision.as_wire())
        terms = decision.terms
        if terms is None:
            return
        if decision.mode == KVCACHE:
            passage.predicted_ttft_ms = terms.kv_total_ms
            prepare_ms = terms.kv_prepare_ms
            service_ms = terms.redis_kv_load_ms + terms.residual_prefill_ms
            passage.link = self._turnstiles.links.reserve(key, now_mono_s, terms.kv_transfer_ms)
            trace.put("kv_link_reserved", 1)
            trace.put("predict_kv_transfer_ms", terms.kv_transfer_ms)
            trace.mark("kdn_link_free_before", now_mono_s + terms.kv_queue_wait_ms / 1000)
            trace.mark("kdn_link_free_after", passage.link.end_s)
        else:
            passage.predicted_ttft_ms = terms.text_total_ms
            prepare_ms = terms.text_prepare_ms
            service_ms = terms.text_prefill_ms
        passage.coming = gate.upcoming.add(now_mono_s + prepare_ms / 1000, service_ms)
        trace.put("predict_text_prefill_ms", terms.text_prefill_ms)
        trace.put("predict_kv_bandwidth_mbps", terms.kv_bandwidth_mbps)
        trace.put("predict_kv_bandwidth_source", terms.kv_bandwidth_source)
        trace.put("predict_know_prepare_ms", prepare_ms)
        trace.put("predict_prepare_ms", prepare_ms)
        trace.put("predict_wait_ms", terms.ready_wait_ms)
        trace.put("predict_compute_ms", service_ms)
        trace.put("predict_total_ms", passage.predicted_ttft_ms)

    def _situation(self, task: Task, member: Member, key: LinkKey, now_mono_s: float) -> Situation:
        links = self._turnstiles.links
        found = self._topology.link_of(member.instance.instance_id, task.kdn_address)
        return Situation(
            rtt_ms=None if found is None else found[0].latency_ms,
            bandwidth_mbps=None if found is None else found[0].bandwidth_mbps,
            bandwidth_source="link_snapshot" if found is None else found[1],
            link_free_in_ms=links.free_in_ms(key, now_mono_s),
            link_active_in_ms=links.active_in_ms(key, now_mono_s)
            * self._forecasts.lookup_share_ratio(task.kdn_address),
        )

    def expect_plain(self, task: Task, passage: Passage) -> None:
        """There is nothing to bring in: the prompt goes as it is."""
        if task.mode == TEXT:
            passage.path = "no_rag_or_empty_knowledge"
            passage.story.trace.put("text_actual_path", passage.path)
        now_mono_s, gate = passage.placed_mono_s, passage.gate
        forecast = passage.forecast = self._forecasts.service(
            passage.member, task, mode=TEXT, knowledge_tokens=0
        )
        wait_ms = gate.upcoming.wait_ms(now_mono_s, gate.board.wait_ms(now_mono_s))
        passage.predicted_ttft_ms = wait_ms + forecast.service_ms
        passage.story.trace.put("predict_total_ms", passage.predicted_ttft_ms)
