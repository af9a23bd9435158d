"""Room 3: text or KV, from what is known of the chosen Instance at this moment.

Everything is worked out in the turn of the choice and noted at once, so the next request sees
what this one will do to the link and to the Instance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cacheroute.core.injection.cost import Situation, estimate
from cacheroute.core.injection.decide import decide as decide_injection
from cacheroute.core.injection.paths import NOTHING_WANTED
from cacheroute.core.task import KVCACHE, TEXT

if TYPE_CHECKING:
    from cacheroute.core.dispatch.approach import Approach
    from cacheroute.core.dispatch.links import LinkKey
    from cacheroute.core.dispatch.upcoming import Upcoming
    from cacheroute.core.injection.rules import InjectionRules
    from cacheroute.core.injection.terms import IwsTerms
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
        approach = gate.upcoming.approach(now_mono_s, gate.board.wait_ms(now_mono_s))
        situation = replace(situation, prepare_wait_ms=approach.place_in_ms)
        factors = self._forecasts.of(member).corrections.factors
        coefficients = self._forecasts.coefficients
        first = estimate(
            task, situation, coefficients=coefficients, rules=self._rules, factors=factors
        )
        if first is not None:
            situation = _among_others(situation, first, gate.upcoming, approach)
        decision = passage.decision = decide_injection(
            task, situation, coefficients=coefficients, rules=self._rules, factors=factors
        )
        trace.put_all(decision.as_wire())
        trace.put("injection_mode", decision.mode)
        self._decisions.explain_injection(decision.as_wire())
        terms = decision.terms
        if terms is None:
            return
        goes_as_kv = decision.mode == KVCACHE and terms.reused_tokens > 0
        if goes_as_kv:
            passage.predicted_ttft_ms = terms.kv_total_ms
            prepare_ms, work_ms = terms.kv_prepare_ms, terms.kv_transfer_ms
            service_ms = terms.redis_kv_load_ms + terms.residual_prefill_ms
            passage.link = self._turnstiles.links.reserve(key, now_mono_s, terms.kv_transfer_ms)
            trace.put("kv_link_reserved", 1)
            trace.put("predict_kv_transfer_ms", terms.kv_transfer_ms)
            trace.mark("kdn_link_free_before", now_mono_s + terms.kv_queue_wait_ms / 1000)
            trace.mark("kdn_link_free_after", passage.link.end_s)
        else:
            passage.predicted_ttft_ms = terms.text_total_ms
            prepare_ms, work_ms = terms.text_prepare_ms, terms.lookup_ms
            service_ms = terms.text_prefill_ms
        gate.upcoming.influx.came(now_mono_s)
        gate.upcoming.line_influx.came(now_mono_s)
        passage.coming = gate.upcoming.add(
            due_mono_s=now_mono_s + prepare_ms / 1000,
            work_ms=work_ms,
            service_ms=service_ms,
            is_text=not goes_as_kv,
            transfer=passage.link,
        )
        trace.put("predict_text_prefill_ms", terms.text_prefill_ms)
        trace.put("predict_kv_bandwidth_mbps", terms.kv_bandwidth_mbps)
        trace.put("predict_kv_bandwidth_source", terms.kv_bandwidth_source)
        trace.put("predict_know_prepare_ms", prepare_ms)
        trace.put("predict_prepare_ms", prepare_ms)
        trace.put("predict_wait_ms", terms.ready_wait_ms)
        trace.put("predict_compute_ms", service_ms)
        trace.put("predict_total_ms", passage.predicted_ttft_ms)

    def _situation(self, task: Task, member: Member, key: LinkKey, now_mono_s: float) -> Situation:
        free_in_ms = self._turnstiles.links.free_in_ms(key, now_mono_s)
        found = self._topology.link_of(member.instance.instance_id, task.kdn_address)
        return Situation(
            rtt_ms=None if found is None else found[0].latency_ms,
            bandwidth_mbps=None if found is None else found[0].bandwidth_mbps,
            bandwidth_source="link_snapshot" if found is None else found[1],
            link_free_in_ms=free_in_ms,
            link_active_in_ms=free_in_ms * self._forecasts.lookup_share_ratio(task.kdn_address),
        )

    def expect_plain(self, task: Task, passage: Passage) -> None:
        """There is nothing to bring in: the prompt goes as it is."""
        if task.mode == TEXT:
            passage.path = NOTHING_WANTED
            passage.story.trace.put("text_actual_path", passage.path)
        now_mono_s, gate = passage.placed_mono_s, passage.gate
        forecast = passage.forecast = self._forecasts.service(
            passage.member, task, mode=TEXT, knowledge_tokens=0
        )
        approach = gate.upcoming.approach(now_mono_s, gate.board.wait_ms(now_mono_s))
        wait_ms = approach.wait_ms(0.0, passes=True)  # it has no place in the line to wait for
        passage.predicted_ttft_ms = wait_ms + forecast.service_ms
        gate.upcoming.influx.came(now_mono_s)
        passage.story.trace.put("predict_total_ms", passage.predicted_ttft_ms)


def _among_others(
    situation: Situation, alone: IwsTerms, upcoming: Upcoming, approach: Approach
) -> Situation:
    """Return the situation with what others do to this one, and this one to others.

    Who becomes ready while its KV is on the link goes first, so KV may wait for more than text.
    """
    text_passes = upcoming.passes(is_text=True)
    kv_passes = upcoming.passes(is_text=not alone.reused_tokens)
    text_ready_ms, text_ms = alone.text_prepare_ms, alone.text_prefill_ms
    kv_ready_ms, kv_ms = alone.kv_prepare_ms, alone.residual_prefill_ms
    return replace(
        situation,
        ready_wait_ms=approach.wait_ms(text_ready_ms, passes=text_passes),
        kv_ready_wait_ms=approach.wait_ms(kv_ready_ms, passes=kv_passes),
        text_delay_ms=approach.delay_ms(text_ready_ms, text_ms, passes=text_passes)
        + approach.later_delay_ms(text_ready_ms, text_ms, passes=text_passes),
        kv_delay_ms=approach.delay_ms(kv_ready_ms, alone.redis_kv_load_ms + kv_ms, passes=kv_passes)
        # Those who come later are not held up by loading: it is over before they are there.
        + approach.later_delay_ms(kv_ready_ms, kv_ms, passes=kv_passes),
    )
