import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.injection.cost import Situation
from cacheroute.core.injection.decide import decide
from cacheroute.core.injection.decision import InjectionDecision
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.task import KVCACHE, TEXT
from tests.cacheroute.core.injection.injection_builders import a_task


def decided(
    strategy: str, situation: Situation | None, mode: str = KVCACHE, knowledge_tokens: int = 1024
) -> InjectionDecision:
    return decide(
        a_task(mode=mode, knowledge_tokens=knowledge_tokens),
        situation,
        coefficients=PUBLISHED,
        rules=InjectionRules(strategy=strategy),
    )


def test_the_rules_name_who_decides() -> None:
    slow = Situation(bandwidth_mbps=1)
    kept, weighed = decided("default", slow), decided("iws", slow)
    assert (kept.mode, kept.reason) == (KVCACHE, "scheduler_mode")
    assert (weighed.mode, weighed.reason) == (TEXT, "text_score_better")
    assert kept.terms == weighed.terms is not None


@pytest.mark.parametrize("situation", [None, Situation(rtt_ms=math.nan)])
@pytest.mark.parametrize("mode", [TEXT, KVCACHE])
def test_without_a_prediction_the_scheduler_decides(situation: Situation | None, mode: str) -> None:
    for strategy, reason in (("default", "scheduler_mode"), ("iws", "estimation_failed")):
        decision = decided(strategy, situation, mode)
        assert (decision.mode, decision.reason, decision.terms) == (mode, reason, None)


@given(
    st.integers(1, 10**5), st.floats(0, 1e4), st.floats(1, 1e5), st.floats(0, 1e4), st.floats(0, 50)
)
def test_iws_takes_kv_exactly_where_it_wins(
    knowledge: int, ready: float, bandwidth: float, free: float, rtt: float
) -> None:
    situation = Situation(
        ready_wait_ms=ready, bandwidth_mbps=bandwidth, link_free_in_ms=free, rtt_ms=rtt
    )
    decision = decided("iws", situation, knowledge_tokens=knowledge)
    assert decision.terms is not None
    t = decision.terms
    wins = t.kv_total_ms + t.kdn_queue_penalty_ms + t.margin_ms < t.text_total_ms
    assert (decision.mode == KVCACHE) is wins


@given(st.integers(1, 10**5), st.floats(1, 1e5), st.floats(1, 1e5))
def test_a_faster_link_never_turns_kv_into_text(knowledge: int, slow: float, fast: float) -> None:
    slow, fast = sorted((slow, fast))
    at = {
        mbps: decided("iws", Situation(bandwidth_mbps=mbps), knowledge_tokens=knowledge).mode
        for mbps in (slow, fast)
    }
    assert at[slow] == TEXT or at[fast] == KVCACHE
