"""protocol 3.7: what both ways cost."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.injection.cost import LOOKUP_MS, Situation, estimate
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.injection.terms import IwsTerms
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.predict.correction import Factors
from cacheroute.core.task import Task
from tests.cacheroute.core.injection.injection_builders import a_task

RULES = InjectionRules()


def terms_of(task: Task | None = None, *, rules: InjectionRules = RULES, **known: Any) -> IwsTerms:
    factors = known.pop("factors", Factors())
    found = estimate(
        task or a_task(), Situation(**known), coefficients=PUBLISHED, rules=rules, factors=factors
    )
    assert found is not None
    return found


def test_a_link_that_nobody_measured_has_the_default() -> None:
    terms = terms_of()
    assert (terms.kv_bandwidth_mbps, terms.kv_bandwidth_source) == (1000, "default")
    assert terms.text_prepare_ms == LOOKUP_MS
    terms = terms_of(rules=InjectionRules(default_bandwidth_mbps=200))
    assert (terms.kv_bandwidth_mbps, terms.kv_bandwidth_source) == (200, "env")


@pytest.mark.parametrize("nothing", [None, 0, -5])
def test_a_bandwidth_of_nothing_is_not_known(nothing: float | None) -> None:
    assert terms_of(bandwidth_mbps=nothing).kv_bandwidth_source == "default"


def test_a_known_bandwidth_is_taken_with_who_says_it() -> None:
    terms = terms_of(bandwidth_mbps=100, bandwidth_source="static")
    assert (terms.kv_bandwidth_mbps, terms.kv_bandwidth_source) == (100, "static")
    assert terms.kv_transfer_ms == pytest.approx(10 * terms_of().kv_transfer_ms)


def test_waiting_for_the_instance_hides_the_preparation() -> None:
    busy = terms_of(ready_wait_ms=1e4)
    assert busy.text_total_ms == 1e4 + busy.text_prefill_ms
    assert busy.kv_total_ms == 1e4 + busy.redis_kv_load_ms + busy.residual_prefill_ms


def test_a_prompt_that_comes_later_for_its_kv_may_wait_longer() -> None:
    terms = terms_of(ready_wait_ms=1e4, kv_ready_wait_ms=3e4)
    assert (terms.ready_wait_ms, terms.kv_ready_wait_ms) == (1e4, 3e4)
    assert terms.text_total_ms == 1e4 + terms.text_prefill_ms
    assert terms.kv_total_ms == 3e4 + terms.redis_kv_load_ms + terms.residual_prefill_ms
    assert terms_of(ready_wait_ms=1e4).kv_ready_wait_ms == 1e4


def test_what_others_wait_longer_counts_as_the_rules_weigh_it() -> None:
    terms = terms_of(text_delay_ms=200, kv_delay_ms=10)
    assert (terms.text_delay_ms, terms.kv_delay_ms) == (200, 10)
    half = InjectionRules(delay_weight=0.5)
    halved = terms_of(rules=half, text_delay_ms=200, kv_delay_ms=10)
    assert (halved.text_delay_ms, halved.kv_delay_ms) == (100, 5)
    as_published = InjectionRules(delay_weight=0)
    published = terms_of(rules=as_published, text_delay_ms=200, kv_delay_ms=10)
    assert (published.text_delay_ms, published.kv_delay_ms) == (0, 0)


def test_what_has_no_whole_block_moves_nothing_and_is_computed_like_text() -> None:
    short = a_task(knowledge_tokens=255)
    terms = terms_of(
        short, link_free_in_ms=3000, factors=Factors(text_prefill=2, kv_prefill=0.1, transfer=5)
    )
    assert (terms.kv_queue_wait_ms, terms.kv_transfer_ms, terms.kv_prepare_ms) == (0, 0, 0)
    assert terms.residual_prefill_ms == terms.text_prefill_ms
    assert not terms.kv_wins


def test_a_running_transfer_holds_text_up_and_a_reserved_one_holds_kv_up() -> None:
    terms = terms_of(link_active_in_ms=100, link_free_in_ms=300, rtt_ms=2)
    assert (terms.text_net_wait_ms, terms.text_prepare_ms) == (100, 100 + 2 + LOOKUP_MS)
    assert (terms.kv_queue_wait_ms, terms.kdn_queue_penalty_ms) == (300, 150)
    assert terms.kv_prepare_ms == 300 + terms.kv_transfer_ms


def test_a_place_to_be_prepared_in_is_waited_for_beside_the_link() -> None:
    terms = terms_of(link_active_in_ms=100, link_free_in_ms=300, prepare_wait_ms=200, rtt_ms=2)
    assert (terms.prepare_wait_ms, terms.lookup_ms) == (200, 2 + LOOKUP_MS)
    assert terms.text_prepare_ms == 200 + 2 + LOOKUP_MS
    assert terms.kv_prepare_ms == 300 + terms.kv_transfer_ms
    longer = terms_of(link_free_in_ms=300, prepare_wait_ms=5000)
    assert longer.kv_prepare_ms == 5000 + longer.kv_transfer_ms
    assert longer.kdn_queue_penalty_ms == 150, "of the link alone"


@pytest.mark.parametrize(
    "task", [a_task(wants_knowledge=False), a_task(knowledge_ids=()), a_task(knowledge_tokens=None)]
)
def test_without_knowledge_there_is_nothing_to_prepare(task: Task) -> None:
    terms = terms_of(task, link_active_in_ms=100)
    assert (terms.text_prepare_ms, terms.kv_transfer_ms, terms.text_tokens) == (0, 0, 86)


def test_without_a_knowledge_node_nothing_is_asked() -> None:
    assert terms_of(a_task(kdn_address="")).text_prepare_ms == 0


def test_of_several_pieces_only_the_share_of_the_first_can_be_reused() -> None:
    """protocol 8, number 35: the published estimate reuses all of them."""
    one, four = terms_of(), terms_of(a_task(knowledge_ids=("a", "b", "c", "d")))
    assert (one.reused_tokens, four.reused_tokens) == (1024, 256)
    assert four.residual_tokens == 86 + 768
    assert terms_of(a_task(knowledge_ids=("a", "A ", "a"))) == one


def test_each_factor_is_on_its_own_term() -> None:
    plain = terms_of()
    taught = terms_of(factors=Factors(text_prefill=2, kv_prefill=3, transfer=5))
    assert taught.text_prefill_ms == pytest.approx(2 * plain.text_prefill_ms)
    assert taught.residual_prefill_ms == pytest.approx(3 * plain.residual_prefill_ms)
    assert taught.redis_kv_load_ms == pytest.approx(3 * plain.redis_kv_load_ms)
    assert taught.kv_transfer_ms == pytest.approx(5 * plain.kv_transfer_ms)
    assert taught.kv_transfer_model_ms == plain.kv_transfer_ms
    assert taught.text_prepare_ms == plain.text_prepare_ms


@pytest.mark.parametrize(
    "name",
    [
        "ready_wait_ms",
        "kv_ready_wait_ms",
        "rtt_ms",
        "bandwidth_mbps",
        "link_free_in_ms",
        "link_active_in_ms",
    ],
)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_figures_that_are_none_give_no_terms_and_no_error(name: str, value: float) -> None:
    situation = Situation(**{name: value})  # type: ignore[arg-type]
    assert estimate(a_task(), situation, coefficients=PUBLISHED, rules=RULES) is None


def test_absurd_lengths_give_no_terms_and_no_error() -> None:
    task = a_task(prompt_tokens=10**400, knowledge_tokens=10**400)
    assert estimate(task, Situation(), coefficients=PUBLISHED, rules=RULES) is None


@given(*[st.integers(0, 10**7)] * 2, *[st.floats(0, 1e7)] * 4)
def test_the_terms_add_up(
    prompt: int, knowledge: int, ready: float, rtt: float, free: float, active: float
) -> None:
    terms = terms_of(
        a_task(prompt_tokens=prompt, knowledge_tokens=knowledge),
        ready_wait_ms=ready,
        rtt_ms=rtt,
        link_free_in_ms=free,
        link_active_in_ms=active,
    )
    assert terms.reused_tokens + terms.residual_tokens == terms.text_tokens
    assert terms.text_total_ms >= max(ready, terms.text_prefill_ms)
    assert terms.kv_total_ms >= max(ready, terms.kv_prepare_ms)
    assert all(v >= 0 for v in terms.as_wire().values() if isinstance(v, int))
