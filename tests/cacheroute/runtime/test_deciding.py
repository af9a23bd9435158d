"""What is decided is noted at once: the next request sees what this one will do."""

from dataclasses import replace

import pytest

from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.injection.decision import InjectionDecision
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.injection.terms import IwsTerms
from cacheroute.core.pool_member import Member
from cacheroute.runtime.passage import Passage
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.runtime.knowledge_parts import KDN, Way
from tests.cacheroute.runtime.runtime_parts import member_of

TEXT_PASSES = QueueRules(release_policy="text_bypass")


def one(way: Way) -> Member:
    return member_of(way.proxy, "i-1")


def terms_of(passage: Passage) -> IwsTerms:
    assert passage.decision is not None
    assert passage.decision.terms is not None
    return passage.decision.terms


async def test_kv_reserves_the_link_and_a_place_among_those_who_come() -> None:
    way = Way()
    way.measured()
    passage = way.decided()
    trace = passage.story.trace.values
    assert passage.decision is not None
    assert passage.decision.mode == "kvcache"
    assert passage.link is not None
    assert passage.link.key == ("i-1", KDN)
    terms = passage.decision.terms
    assert terms is not None
    assert passage.predicted_ttft_ms == terms.kv_total_ms
    assert trace["predict_total_ms"] == int(terms.kv_total_ms)
    assert trace["predict_know_prepare_ms"] == int(terms.kv_prepare_ms) == 953
    assert trace["kv_link_reserved"] == 1
    assert trace["kdn_link_free_before"] == 1_700_000_000_000
    assert trace["kdn_link_free_after"] == 1_700_000_000_953
    assert trace["predict_kv_bandwidth_source"] == "link_snapshot"
    assert len(passage.gate.upcoming) == 1
    busy_ms = way.proxy.turnstiles.links.free_in_ms(("i-1", KDN), way.clock.mono_s)
    assert busy_ms == pytest.approx(terms.kv_transfer_ms)


async def test_text_takes_a_place_and_no_link() -> None:
    way = Way(strategy="default")
    passage = way.decided(mode="text")
    assert passage.link is None
    assert "kv_link_reserved" not in passage.story.trace.values
    assert passage.decision is not None
    assert passage.decision.terms is not None
    assert passage.predicted_ttft_ms == passage.decision.terms.text_total_ms
    assert len(passage.gate.upcoming) == 1


async def test_the_second_one_finds_the_link_taken_by_the_first() -> None:
    way = Way()
    way.measured()
    way.decided()
    second = way.decided()
    assert second.decision is not None
    terms = second.decision.terms
    assert terms is not None
    assert terms.kv_queue_wait_ms == pytest.approx(953.25, abs=0.01)
    assert terms.kdn_queue_penalty_ms == pytest.approx(terms.kv_queue_wait_ms / 2)
    assert terms.text_net_wait_ms == pytest.approx(terms.kv_queue_wait_ms)


async def test_a_node_that_answers_beside_a_transfer_makes_no_text_wait() -> None:
    way = Way()
    way.measured()
    way.at_a_node_that_does_two_things_at_once()
    way.decided()
    second = way.decided()
    assert second.decision is not None
    assert second.decision.terms is not None
    assert second.decision.terms.text_net_wait_ms == pytest.approx(0, abs=0.01)
    assert second.decision.terms.kv_queue_wait_ms > 900


async def test_a_slow_link_is_known_by_its_measurement() -> None:
    way = Way()
    way.measured(bandwidth_mbps=50.0)
    passage = way.decided()
    assert passage.decision is not None
    assert passage.decision.mode == "text"
    assert passage.story.trace.values["kv_bandwidth_mbps"] == 50


async def test_a_link_that_nobody_measured_has_the_default_bandwidth() -> None:
    way = Way(default_bandwidth_mbps=500.0)
    trace = way.decided().story.trace.values
    assert (trace["kv_bandwidth_mbps"], trace["kv_bandwidth_source"]) == (500, "env")
    assert (trace["text_prepare_ms"], trace["predict_kv_bandwidth_mbps"]) == (3, 500)


async def test_prefills_that_are_on_their_way_are_waited_for() -> None:
    way = Way()
    first = way.decided(kdn_address="", mode="text")
    second = way.decided()
    assert first.decision is not None
    assert second.decision is not None
    assert first.decision.terms is not None
    terms = second.decision.terms
    assert terms is not None
    # The first is ready at once, and reads its prompt before either form of the second.
    assert terms.ready_wait_ms == pytest.approx(first.decision.terms.text_prefill_ms)
    assert terms.kv_ready_wait_ms == terms.ready_wait_ms


async def test_text_that_may_pass_is_read_before_kv_that_is_on_its_way() -> None:
    way = Way(default_bandwidth_mbps=100.0, strategy="default", queue_rules=TEXT_PASSES)
    way.at_a_node_that_does_two_things_at_once()
    kv = way.decided(mode="kvcache")  # on the link for ten seconds
    text = way.decided(mode="text")
    late = way.decided(mode="kvcache")
    assert kv.decision is not None
    assert text.decision is not None
    assert late.decision is not None
    assert kv.decision.terms is not None
    assert text.decision.terms is not None
    assert late.decision.terms is not None
    assert text.decision.terms.ready_wait_ms == 0
    # As text the late one would find the text before it, as KV the first KV as well.
    assert late.decision.terms.ready_wait_ms < 2000
    assert late.decision.terms.kv_ready_wait_ms > kv.decision.terms.kv_prepare_ms


async def test_text_that_may_not_pass_waits_for_kv_that_came_before_it() -> None:
    way = Way(default_bandwidth_mbps=100.0, strategy="default")
    way.at_a_node_that_does_two_things_at_once()
    kv = terms_of(way.decided(mode="kvcache"))  # on the link for ten seconds
    text = way.decided(mode="text")
    terms = terms_of(text)
    assert terms.ready_wait_ms == pytest.approx(kv.kv_total_ms)
    assert text.predicted_ttft_ms == pytest.approx(kv.kv_total_ms + terms.text_prefill_ms)
    assert terms.text_delay_ms == 0, "nobody is behind it"


async def test_behind_a_transfer_that_it_may_not_pass_text_has_nothing_to_win() -> None:
    """Its own KV, on another node's link, would be there as soon as it may go."""

    def last_one(queue_rules: QueueRules) -> str:
        way = Way(default_bandwidth_mbps=100.0, strategy="default", queue_rules=queue_rules)
        way.at_a_node_that_does_two_things_at_once()
        way.decided(mode="kvcache")
        way.decider._rules = InjectionRules(default_bandwidth_mbps=100.0, strategy="iws")
        decision = way.decided(knowledge_tokens=768, kdn_address="10.0.0.8:9101").decision
        assert decision is not None
        return decision.mode

    assert (last_one(TEXT_PASSES), last_one(QueueRules())) == ("text", "kvcache")


async def test_a_place_at_the_first_turnstile_is_part_of_the_prediction() -> None:
    rules = replace(TEXT_PASSES, prepare_concurrency=2)
    way = Way(strategy="default", queue_rules=rules)
    way.at_a_node_that_does_two_things_at_once()
    first = terms_of(way.decided(mode="kvcache"))
    assert terms_of(way.decided(mode="kvcache")).prepare_wait_ms == 0
    text = way.decided(mode="text")
    terms = terms_of(text)
    assert terms.prepare_wait_ms == pytest.approx(first.kv_transfer_ms)
    assert terms.text_prepare_ms == pytest.approx(first.kv_transfer_ms + terms.lookup_ms)
    # The KV that made room is read when the text is ready.
    assert terms.ready_wait_ms == pytest.approx(first.kv_total_ms)
    assert text.story.trace.values["predict_prepare_ms"] == int(terms.text_prepare_ms)


async def test_kv_mode_without_a_whole_block_is_predicted_as_the_text_that_it_becomes() -> None:
    way = Way(strategy="default", queue_rules=TEXT_PASSES)
    way.measured()
    way.decided(mode="kvcache")  # on the link for a second
    way.at_a_node_that_does_two_things_at_once()
    short = way.decided(mode="kvcache", knowledge_tokens=100)
    terms = terms_of(short)
    assert short.predicted_ttft_ms == terms.text_total_ms
    assert short.link is None
    assert short.predicted_ttft_ms < 500


async def test_a_long_text_would_hold_up_kv_that_is_on_its_way_and_that_counts() -> None:
    """The KV arrives while the text is being read, and has to stand and wait."""

    def last_one(**rules: float) -> InjectionDecision:
        way = Way(queue_rules=TEXT_PASSES, **rules)  # type: ignore[arg-type]
        way.measured()
        way.at_a_node_that_does_two_things_at_once()
        way.decided()  # its KV is on the link for a second
        decision = way.decided(knowledge_tokens=1500).decision
        assert decision is not None
        return decision

    as_published, ours = last_one(delay_weight=0.0), last_one()
    assert (as_published.mode, ours.mode) == ("text", "kvcache")
    assert ours.terms is not None
    assert ours.terms.text_delay_ms > 1000
    assert ours.terms.kv_delay_ms == 0


async def test_what_a_long_text_costs_those_who_will_come_counts() -> None:
    """For itself it would be the faster way, by 46 ms."""

    def last_one(**rules: float) -> InjectionDecision:
        way = Way(bandwidth_utilisation=0.55, queue_rules=TEXT_PASSES, **rules)  # type: ignore[arg-type]
        way.measured()
        way.at_a_node_that_does_two_things_at_once()
        for _ in range(8):  # four a second, all of them short
            way.decided(mode="text", knowledge_tokens=10).end()
            way.clock.wait(0.25)
        decision = way.decided(knowledge_tokens=1024).decision
        assert decision is not None
        return decision

    as_published, ours = last_one(delay_weight=0.0), last_one()
    assert as_published.terms is not None
    assert ours.terms is not None
    assert (as_published.mode, ours.mode) == ("text", "kvcache")
    # Six come while it would be read, and each waits for half of it.
    assert ours.terms.text_delay_ms == pytest.approx(
        4 * ours.terms.text_prefill_ms**2 / 2 / 1000, rel=0.01
    )
    assert ours.terms.kv_delay_ms < 20


async def test_those_without_knowledge_who_will_come_count_as_well() -> None:
    """They wait for a long text like all others."""
    way = Way(bandwidth_utilisation=0.55, queue_rules=TEXT_PASSES)
    way.measured()
    way.at_a_node_that_does_two_things_at_once()
    for _ in range(8):
        plain = way.passage(wants_knowledge=False, mode="text")
        assert plain.task is not None
        way.decider.expect_plain(plain.task, plain)
        plain.end()
        way.clock.wait(0.25)
    decision = way.decided(knowledge_tokens=1024).decision
    assert decision is not None
    assert decision.mode == "kvcache"
    assert decision.terms is not None
    assert decision.terms.text_delay_ms == pytest.approx(
        4 * decision.terms.text_prefill_ms**2 / 2 / 1000, rel=0.01
    )


async def test_what_was_learned_of_the_instance_is_weighed() -> None:
    way = Way()
    way.proxy.forecasts.of(one(way)).corrections.text_prefill.observe(1000, 100)
    passage = way.decided()
    assert passage.decision is not None
    assert passage.decision.mode == "text", "the GPU is ten times as fast as the model says"


async def test_knowledge_of_a_length_that_cannot_be_leaves_the_schedulers_mode() -> None:
    way = Way()
    passage = way.decided(knowledge_tokens=10**400, mode="kvcache")
    assert passage.decision is not None
    assert (passage.decision.mode, passage.decision.reason) == ("kvcache", "estimation_failed")
    assert passage.predicted_ttft_ms is None
    assert passage.coming is None
    assert passage.link is None
    passage.end()
    assert way.is_clean


async def test_the_decision_is_shown_beside_the_choice_of_the_instance() -> None:
    way = Way()
    way.measured()
    passage = way.decided()
    assert passage.decision is not None
    (shown,) = way.proxy.decisions.last(10)
    assert shown.injection == passage.decision.as_wire()
    assert shown.injection["injection_reason"] == "kvcache_score_better"


async def test_a_prompt_without_knowledge_is_forecast_as_it_is() -> None:
    way = Way(an_instance("i-1"))
    passage = way.passage(wants_knowledge=False, mode="text")
    assert passage.task is not None
    way.decider.expect_plain(passage.task, passage)
    trace = passage.story.trace.values
    assert trace["text_actual_path"] == "no_rag_or_empty_knowledge"
    assert passage.forecast is not None
    assert passage.forecast.total_tokens == 50  # this Proxy adds no header tokens
    assert passage.predicted_ttft_ms == passage.forecast.service_ms
    kv = way.passage(wants_knowledge=False, mode="kvcache")
    assert kv.task is not None
    way.decider.expect_plain(kv.task, kv)
    assert "kvcache_actual_path" not in kv.story.trace.values
    assert kv.path is None
    assert (kv.link, kv.coming) == (None, None)
    assert way.is_clean, "it is sent at once, and holds nothing before that"
