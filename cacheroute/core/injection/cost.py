"""What knowledge costs as text and as KV, in the situation its Instance is in.

Floats all the way, by the published formulas; nothing is cut off between the steps. Of
several pieces only the first one's KV can be hit, so only its share of the tokens counts.
"""

import math
from dataclasses import dataclass

from cacheroute.core.injection.knowledge import distinct
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.injection.terms import IwsTerms
from cacheroute.core.predict.coefficients import Coefficients
from cacheroute.core.predict.correction import AS_MODELLED, Factors
from cacheroute.core.predict.transfer import network_ms
from cacheroute.core.task import Task

LOOKUP_MS = 3.0
"""What a lookup takes on top of the round trip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known of the chosen Instance and its link at the moment of the decision."""

    ready_wait_ms: float = 0.0
    """Until the Instance could begin with another prompt."""
    kv_ready_wait_ms: float | None = None
    """The same for a prompt that comes when its KV is there, behind those that come before it;
    None when it is not told apart."""
    text_delay_ms: float = 0.0
    """How much longer others would wait, in sum, for the prompt as text."""
    kv_delay_ms: float = 0.0
    """The same for the prompt with KV."""
    prepare_wait_ms: float = 0.0
    """Until one more may be prepared for the Instance."""
    rtt_ms: float | None = None
    """Round trip to the knowledge node; None when nobody measured it, which counts as none."""
    bandwidth_mbps: float | None = None
    """Of the link; None or 0 when not known, and the rules' default is taken."""
    bandwidth_source: str = "link_snapshot"
    """Who says so: `link_snapshot` for a report, `static` for the configuration."""
    link_free_in_ms: float = 0.0
    """Until the link is free for another transfer."""
    link_active_in_ms: float = 0.0
    """Until the transfer that runs on it has ended."""


def estimate(
    task: Task,
    situation: Situation,
    *,
    coefficients: Coefficients,
    rules: InjectionRules,
    factors: Factors = AS_MODELLED,
) -> IwsTerms | None:
    """Predict both ways; None when that cannot be done with these figures, never an error."""
    try:
        return _estimate(task, situation, coefficients, rules, factors)
    except (ArithmeticError, ValueError):  # absurd lengths, or a report that is not a number
        return None


def _estimate(
    task: Task,
    situation: Situation,
    coefficients: Coefficients,
    rules: InjectionRules,
    factors: Factors,
) -> IwsTerms:
    prefill, kv = coefficients.prefill, coefficients.kv
    knowledge = (task.knowledge_tokens or 0) if task.has_knowledge else 0
    pieces = max(1, len(distinct(task.knowledge_ids)))
    whole = task.prompt_tokens + knowledge + rules.header_tokens
    text_tokens = max(1, whole)
    reused = kv.aligned(knowledge / pieces)
    residual = max(1, whole - reused)

    text_net_wait = _wait_ms(situation.link_active_in_ms)
    prepare_wait = _wait_ms(situation.prepare_wait_ms) if knowledge else 0.0
    text_prepare, lookup = prepare_wait, 0.0
    if knowledge and task.kdn_address:
        lookup = _wait_ms((situation.rtt_ms or 0.0) + LOOKUP_MS)
        text_prepare = max(prepare_wait, text_net_wait) + lookup
    text_prefill = prefill.predict_ms(text_tokens) * factors.text_prefill

    bandwidth, source = situation.bandwidth_mbps, situation.bandwidth_source
    if not bandwidth or bandwidth < 0:
        bandwidth, source = rules.default_bandwidth_mbps, rules.default_bandwidth_source
    # What has no whole block moves nothing and is computed like text.
    kv_queue_wait = _wait_ms(situation.link_free_in_ms) if reused else 0.0
    kv_transfer_model = network_ms(kv.network_mb(reused), bandwidth, rules.bandwidth_utilisation)
    kv_transfer = kv_transfer_model * factors.transfer
    kv_prepare = max(prepare_wait, kv_queue_wait) + kv_transfer
    kv_factor = factors.kv_prefill if reused else factors.text_prefill
    load = coefficients.pull.pull_ms(kv.redis_gb(reused)) * kv_factor
    residual_prefill = prefill.predict_ms(residual, reused) * kv_factor

    ready_wait = kv_ready_wait = _wait_ms(situation.ready_wait_ms)
    if situation.kv_ready_wait_ms is not None:
        kv_ready_wait = _wait_ms(situation.kv_ready_wait_ms)
    return IwsTerms(
        ready_wait_ms=ready_wait,
        kv_ready_wait_ms=kv_ready_wait,
        prepare_wait_ms=prepare_wait,
        text_net_wait_ms=text_net_wait,
        text_prepare_ms=text_prepare,
        lookup_ms=lookup,
        text_prefill_ms=text_prefill,
        text_total_ms=max(text_prepare, ready_wait) + text_prefill,
        kv_queue_wait_ms=kv_queue_wait,
        kv_transfer_ms=kv_transfer,
        kv_transfer_model_ms=kv_transfer_model,
        kv_prepare_ms=kv_prepare,
        redis_kv_load_ms=load,
        residual_prefill_ms=residual_prefill,
        kv_total_ms=max(kv_ready_wait, kv_prepare) + load + residual_prefill,
        text_delay_ms=_wait_ms(situation.text_delay_ms) * rules.delay_weight,
        kv_delay_ms=_wait_ms(situation.kv_delay_ms) * rules.delay_weight,
        kdn_queue_penalty_ms=rules.penalty_alpha * kv_queue_wait,
        margin_ms=rules.margin_ms,
        kv_bandwidth_mbps=bandwidth,
        kv_bandwidth_source=source,
        text_tokens=text_tokens,
        reused_tokens=reused,
        residual_tokens=residual,
    )


def _wait_ms(ms: float) -> float:
    """Return a wait as it counts: `max` alone would take NaN for none."""
    if not math.isfinite(ms):
        raise ValueError(f"a wait must be a finite number of ms, not {ms!r}")
    return max(0.0, ms)
