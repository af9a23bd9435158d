"""protocol 3.7: who decides, and the published words for why."""

from typing import Any

import pytest

from cacheroute.core.injection.strategies import decide_default, decide_iws
from cacheroute.core.task import KVCACHE, TEXT, Task
from tests.cacheroute.core.injection.injection_builders import a_task, some_terms

KV_IS_FASTER: dict[str, Any] = {"text_total_ms": 1000, "kv_total_ms": 500, "kv_prepare_ms": 300}


@pytest.mark.parametrize("mode", [TEXT, KVCACHE, "neither"])
def test_by_default_the_scheduler_decides_and_the_terms_are_told(mode: str) -> None:
    terms = some_terms(**KV_IS_FASTER)
    decision = decide_default(a_task(mode=mode), terms)
    assert (decision.mode, decision.reason) == (mode, "scheduler_mode")
    assert (decision.strategy, decision.terms) == ("default", terms)
    assert decide_default(a_task(mode=mode)).mode == mode


@pytest.mark.parametrize(
    ("terms", "mode", "reason"),
    [
        ({"kv_ready_wait_ms": 300}, KVCACHE, "kvcache_hidden_and_score_better"),
        ({"kv_ready_wait_ms": 299, "ready_wait_ms": 400}, KVCACHE, "kvcache_score_better"),
        ({"kv_total_ms": 1000, "kv_queue_wait_ms": 1}, TEXT, "text_due_to_kdn_congestion"),
        (
            {"kv_total_ms": 1000, "kv_queue_wait_ms": 1, "text_net_wait_ms": 1},
            TEXT,
            "text_due_to_kdn_congestion",
        ),
        ({"kv_total_ms": 1000, "text_net_wait_ms": 1}, TEXT, "text_despite_active_kv_wait"),
        ({"kv_total_ms": 1000}, TEXT, "text_score_better"),
    ],
)
def test_each_published_reason_has_its_case(terms: dict[str, Any], mode: str, reason: str) -> None:
    given = some_terms(**(KV_IS_FASTER | terms))
    for wanted in (TEXT, KVCACHE):
        decision = decide_iws(a_task(mode=wanted), given)
        assert (decision.mode, decision.reason) == (mode, reason)
        assert (decision.strategy, decision.terms) == ("iws", given)


@pytest.mark.parametrize(
    "task",
    [
        a_task(wants_knowledge=False),
        a_task(knowledge_ids=()),
        a_task(knowledge_tokens=None),
        a_task(kdn_address=""),
    ],
)
def test_nothing_to_inject_goes_as_text(task: Task) -> None:
    for terms in (None, some_terms(**KV_IS_FASTER)):
        decision = decide_iws(task, terms)
        assert (decision.mode, decision.reason) == (TEXT, "no_rag_or_empty_knowledge")
        assert decision.terms == terms


@pytest.mark.parametrize("mode", [TEXT, KVCACHE, "neither"])
def test_without_terms_the_scheduler_decides(mode: str) -> None:
    decision = decide_iws(a_task(mode=mode), None)
    assert (decision.mode, decision.reason) == (mode, "estimation_failed")
