"""From a request to an Instance, and the words when there is none."""

from collections import Counter

import pytest

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.routing.selection import Chosen
from cacheroute.core.routing.strategies import LeastLoad, RoundRobin
from cacheroute.core.routing.weights import Weights
from cacheroute.core.task import Task
from tests.cacheroute.core.pool_builders import an_instance, at
from tests.cacheroute.core.routing.routing_builders import (
    Desk,
    a_least_load_desk,
    a_request,
    instances,
)


def test_an_empty_pool_says_so_and_when_to_ask_again() -> None:
    nobody = Desk().nobody()
    assert nobody.reason == "No Instance is registered."
    assert nobody.code == "no_instance"
    assert nobody.retry_after_s == 1.0


def test_a_model_nobody_serves_is_the_callers_mistake_and_waiting_does_not_help() -> None:
    desk = Desk(*instances(2, meta={"model": "other"}))
    nobody = desk.nobody(a_request("llama-3"))
    assert nobody.code == "model_not_found"
    assert nobody.retry_after_s is None
    assert nobody.reason == (
        "No Instance of this pool serves the model 'llama-3': 2 other models (i-1, i-2)."
    )


def test_silence_is_named_with_the_model_the_endpoint_and_who_is_silent() -> None:
    desk = Desk(*instances(3))
    desk.now_s = 31.0
    desk.pool.heartbeat("i-2", at(31.0))
    desk.member("i-2").draining = True
    desk.pool.expire(at(31.0))
    nobody = desk.nobody(a_request("llama-3"))
    assert nobody.code == "no_instance"
    assert nobody.reason == (
        "No alive Instance serves 'llama-3' on chat/completions: "
        "2 stale (i-1, i-3), 1 draining (i-2)."
    )
    assert nobody.retry_after_s == 1.0


def test_without_a_model_the_endpoint_alone_is_named() -> None:
    desk = Desk(an_instance(endpoints=("completions",)))
    assert desk.nobody(a_request(None)).reason == (
        "No alive Instance serves chat/completions: 1 other endpoints (i-1)."
    )


@pytest.mark.parametrize("trouble", ["draining", "dead", "weight"])
def test_one_that_might_serve_the_model_later_makes_it_no_mistake_of_the_caller(
    trouble: str,
) -> None:
    desk = Desk(*instances(1, meta={"model": "other"}))
    desk.join(an_instance("i-9", port=9, weight=0.0 if trouble == "weight" else 1.0))
    desk.member("i-9").draining = trouble == "draining"
    if trouble == "dead":
        desk.now_s = 1000.0
        desk.pool.heartbeat("i-1", at(1000.0))
        desk.pool.expire(at(1000.0))
    assert desk.nobody().code == "no_instance"


def test_when_all_are_at_their_caps_the_strategy_chooses_whom_to_wait_for() -> None:
    desk = Desk(*instances(2, max_concurrent=1), strategy=LeastLoad(Weights()), waits_at_caps=True)
    leases = [desk.take() for _ in range(3)]
    assert {lease.member.instance.instance_id for lease in leases[:2]} == {"i-1", "i-2"}
    last = leases[2].member
    assert last.inflight == 2
    assert desk.chosen().member is not last


def test_who_is_full_is_left_alone_while_somebody_has_room() -> None:
    desk = Desk(*instances(2, max_concurrent=1), an_instance("roomy", port=1))
    ids = [desk.take().member.instance.instance_id for _ in range(9)]
    assert ids.count("i-1") == ids.count("i-2") == 1


def test_a_plain_request_does_not_wait_unless_that_is_set() -> None:
    desk = Desk(*instances(2, max_concurrent=1))
    desk.take()
    desk.take()
    nobody = desk.nobody()
    assert nobody.code == "all_overloaded"
    assert nobody.reason.endswith("at its max_concurrent: i-1 1 of 1, i-2 1 of 1.")


def test_a_request_with_a_task_waits_where_all_are_full() -> None:
    desk = Desk(*instances(1, max_concurrent=1))
    desk.take()
    request = a_request()
    request.task = Task(
        request_id=1, endpoint="chat/completions", model="m", user_prompt="", prompt_tokens=1,
        stream=True,
    )  # fmt: skip
    assert desk.chosen(request).member is desk.member("i-1")


def test_who_is_full_and_has_failed_on_a_request_is_not_waited_for() -> None:
    desk = Desk(*instances(2, max_concurrent=1), waits_at_caps=True)
    desk.take()
    desk.take()
    assert desk.chosen(excluded=[desk.member("i-1")]).member is desk.member("i-2")
    nobody = desk.nobody(excluded=list(desk.pool.members.values()))
    assert nobody.reason == "Every Instance that could serve the request has failed on it."


def test_a_cap_sends_the_excess_to_who_has_room() -> None:
    desk = Desk(an_instance("i-1", port=1, max_concurrent=1), an_instance("i-2", port=2))
    ids = [desk.take().member.instance.instance_id for _ in range(5)]
    assert ids.count("i-1") == 1


@pytest.mark.parametrize("strategy", [RoundRobin, LeastLoad])
def test_a_cap_that_is_lifted_or_set_counts_at_once(
    strategy: type[RoundRobin | LeastLoad],
) -> None:
    desk = Desk(*instances(1, max_concurrent=1), strategy=strategy(Weights()))
    desk.take()
    assert desk.nobody().code == "all_overloaded"
    for cap in (None, 3):
        member = desk.join(*instances(1, max_concurrent=cap))
        desk.strategy.on_change(member)
        desk.take()
    assert member.inflight == 3
    assert desk.nobody().reason.endswith("at its max_concurrent: i-1 3 of 3.")


def test_where_all_are_full_who_waits_does_so_where_he_may() -> None:
    desk = Desk(*instances(2, max_concurrent=1), strategy=LeastLoad(Weights()), waits_at_caps=True)
    crowded = desk.member("i-1")
    board = crowded.queues = Board(QueueRules(max_queue=1), slots=1)
    for member in (crowded, *[desk.member("i-2")] * 9):
        desk.pool.lease(member)
        desk.strategy.on_change(member)
    assert desk.chosen().member is crowded
    for _ in range(2):
        board.enter(Ticket())
        desk.strategy.on_change(crowded)
    assert desk.chosen().member is desk.member("i-2")
    assert desk.chosen(excluded=[desk.member("i-2")]).member is crowded


def test_who_has_failed_on_a_request_does_not_get_it_again() -> None:
    desk = Desk(*instances(3))
    failed = [desk.member("i-1"), desk.member("i-3")]
    assert {desk.chosen(excluded=failed).member.instance.instance_id for _ in range(6)} == {"i-2"}


def test_when_all_have_failed_on_a_request_that_is_said() -> None:
    desk = Desk(*instances(2))
    nobody = desk.nobody(excluded=list(desk.pool.members.values()))
    assert nobody.reason == "Every Instance that could serve the request has failed on it."
    assert nobody.code == "no_instance"


def test_the_choice_tells_who_was_left_out() -> None:
    desk = Desk(*instances(3))
    desk.resting = {"i-2"}
    chosen = desk.chosen()
    assert chosen.considered == 2
    assert chosen.skipped == {"resting after failures": ["i-2"]}


def test_lists_are_kept_while_the_version_stands_and_made_anew_when_it_moves() -> None:
    desk = Desk(*instances(2))
    desk.turns(2)
    desk.member("i-1").draining = True
    assert "i-1" in desk.turns(2)
    desk.changed()
    assert desk.turns(4) == ["i-2"] * 4


def test_an_instance_that_comes_is_used_and_one_that_goes_is_not() -> None:
    desk = Desk(*instances(1))
    desk.turns(1)
    desk.join(an_instance("i-2", port=2))
    assert set(desk.turns(2)) == {"i-1", "i-2"}
    desk.pool.unregister("i-1")
    assert set(desk.turns(2)) == {"i-2"}


def test_names_of_models_that_callers_make_up_do_not_add_up() -> None:
    desk = a_least_load_desk(*instances(3))
    for n in range(2000):
        desk.turns(1, a_request(f"made-up-{n}"))
    assert len(desk.router._lists) <= 256
    for member in desk.pool.members.values():
        assert len(member.places) <= 256


@pytest.mark.parametrize("strategy", [RoundRobin, LeastLoad])
def test_models_of_the_same_instances_have_rounds_of_their_own_over_the_same_costs(
    strategy: type[RoundRobin | LeastLoad],
) -> None:
    """With one round for both, each model would always get the same Instance."""
    desk = Desk(*instances(2), strategy=strategy(Weights()))
    served = {model: desk.turns(1, a_request(model)) for model in "ab"}
    for _ in range(3):
        for model in "ab":
            served[model] += desk.turns(1, a_request(model))
    for model in "ab":
        assert Counter(served[model]) == {"i-1": 2, "i-2": 2}
    assert all(len(member.places) <= 1 for member in desk.pool.members.values())


def test_names_that_nobody_serves_leave_nothing_behind() -> None:
    desk = Desk(*instances(1, meta={"model": "m"}))
    for n in range(100):
        desk.nobody(a_request(f"made-up-{n}"))
    assert not desk.router._lists


def test_every_model_and_endpoint_has_a_list_of_its_own() -> None:
    desk = Desk(
        an_instance("a", port=1, meta={"model": "a"}),
        an_instance("b", port=2, meta={"model": "b"}),
        an_instance("e", port=3, endpoints=("embeddings",)),
    )
    for _ in range(3):
        assert desk.turns(1, a_request("a")) == ["a"]
        assert desk.turns(1, a_request("b")) == ["b"]
        assert desk.turns(1, a_request("x", endpoint="embeddings")) == ["e"]


@pytest.mark.parametrize("excluded", [True, False], ids=["after failures", "with a cap"])
def test_lists_for_one_request_leave_nothing_behind(excluded: bool) -> None:
    """A failed try leaves some out for one request alone, and caps those who are full."""
    fleet = [*instances(2), an_instance("capped", port=1, max_concurrent=None if excluded else 9)]
    desk = a_least_load_desk(*fleet)
    failed = [desk.member("i-1")] if excluded else []
    for _ in range(100):
        selection = desk.select(excluded=failed)
        assert isinstance(selection, Chosen)
    for member in desk.pool.members.values():
        assert len(member.places) <= 2, f"{len(member.places)} places after 100 requests"
