import pytest

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.decision import Decision, Decisions
from cacheroute.core.routing.selection import Chosen
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request

ONE = Member(an_instance("i-1"))
TWO = Member(an_instance("i-2"))


def recorded(chosen: Chosen | None, reason: str | None = None, attempt: int = 1) -> Decision:
    decisions = Decisions()
    decisions.add(a_request(), attempt, "least_load", chosen, reason)
    return next(decisions.last(1))


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (Chosen(ONE), "i-1 was due next among 1 candidate."),
        (Chosen(ONE, considered=3), "i-1 was due next among 3 candidates."),
        (Chosen(ONE, 2.5), "i-1 had the least cost, 2.5, among 1 candidate."),
        (
            Chosen(ONE, 1.0, TWO, 3.25, 4),
            "i-1 had the least cost, 1, among 4 candidates; i-2 came next with 3.25.",
        ),
        (
            Chosen(ONE, 0.0, TWO, 0.0, 2),
            "i-1 shared the least cost, 0, among 2 candidates and was due next.",
        ),
        (Chosen(ONE, 7.0, considered=1000), "i-1 had the least cost, 7, among 1000 candidates."),
    ],
)
def test_a_choice_is_told_in_a_sentence(chosen: Chosen, words: str) -> None:
    assert recorded(chosen).in_words() == words


def test_a_decision_on_the_wire_has_every_key_and_counts_who_was_skipped() -> None:
    chosen = Chosen(ONE, 1.0, TWO, 2.0, 2, {"stale": ["i-3", "i-4"], "draining": ["i-5"]})
    assert recorded(chosen, attempt=2).as_wire() == {
        "seq": 1,
        "at": 0.0,
        "request_id": "req-1",
        "attempt": 2,
        "strategy": "least_load",
        "model": "m",
        "endpoint": "chat/completions",
        "instance_id": "i-1",
        "cost": 1.0,
        "runner_up": "i-2",
        "runner_up_cost": 2.0,
        "considered": 2,
        "skipped": {"stale": 2, "draining": 1},
        "reason": "i-1 had the least cost, 1, among 2 candidates; i-2 came next with 2.",
        "injection": None,
    }


def test_how_knowledge_is_brought_in_is_told_with_its_decision() -> None:
    decisions = Decisions()
    for _ in range(2):
        decisions.add(a_request(), 1, "round_robin", Chosen(ONE), None)
    decisions.explain_injection({"injection_mode": "text"})
    newest, before = decisions.last(2)
    assert newest.as_wire()["injection"] == {"injection_mode": "text"}
    assert before.as_wire()["injection"] is None


def test_that_nobody_was_chosen_is_told_with_its_reason() -> None:
    wire = recorded(None, "No Instance is registered.").as_wire()
    assert wire["instance_id"] is None
    assert wire["reason"] == "No Instance is registered."
    assert (wire["cost"], wire["considered"], wire["skipped"]) == (None, 0, {})


def test_the_newest_come_first_and_the_oldest_make_room() -> None:
    decisions = Decisions()
    for _ in range(3000):
        decisions.add(a_request(), 1, "round_robin", Chosen(ONE), None)
    assert decisions.total == 3000
    kept = list(decisions.last(5000))
    assert len(kept) == 1024
    assert [d.number for d in kept[:2]] == [3000, 2999]
    assert kept[-1].number == 3000 - 1024 + 1
    assert [d.number for d in decisions.last(2)] == [3000, 2999]
    assert list(decisions.last(0)) == []


def test_a_decision_keeps_what_was_true_then() -> None:
    member = Member(an_instance("i-1"))
    decisions = Decisions()
    decisions.add(a_request(), 1, "round_robin", Chosen(member), None)
    member.instance = an_instance("renamed")
    assert next(decisions.last(1)).instance_id == "i-1"
