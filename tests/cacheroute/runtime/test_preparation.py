"""Rooms 3 to 5 in one go, with a node and an Instance that are asked in words of our own.

What becomes of the knowledge is in `test_fallbacks`, over real connections; here are the
stages themselves: what is marked, when, and what is learned.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

import pytest

from cacheroute.core.errors import QueueFull, UpstreamError, UpstreamTimeout
from cacheroute.core.injection.knowledge import KnowledgeItem
from cacheroute.core.injection.rules import InjectionRules
from cacheroute.core.instance import Instance
from cacheroute.core.task import Task
from cacheroute.runtime.deciding import Decider
from cacheroute.runtime.passage import InstanceLeft, Passage
from cacheroute.runtime.preparation import Preparation
from cacheroute.runtime.story import Story
from cacheroute.upstream.kdn import Ack, Kdns, Lookup
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.runtime.knowledge_parts import KDN, Waiter, Way, a_forwarded_request
from tests.cacheroute.runtime.runtime_parts import member_of, placed

ITEM = KnowledgeItem(id="aa", content="x" * 4096, kv_ready=True)


class Peers:
    """The node and the Instance: each call takes some time and then answers."""

    def __init__(self, way: Way) -> None:
        self.way = way
        self.lookup_s = 0.005
        self.inject_s = 0.5
        self.transfer_ms: float | None = None
        self.looked_up: list[tuple[str, Sequence[str]]] = []
        self.ordered: list[dict[str, Any]] = []
        self.before: Callable[[], Awaitable[None]] | None = None

    async def lookup(self, address: str, knowledge_ids: Sequence[str]) -> Lookup:
        self.looked_up.append((address, tuple(knowledge_ids)))
        self.way.clock.wait(self.lookup_s)
        return Lookup(items=(ITEM,), missing=())

    async def inject(self, instance: Instance, **order: Any) -> Ack:
        self.ordered.append(order)
        self.way.clock.wait(self.inject_s)
        if self.before is not None:
            await self.before()
        return Ack(
            reply={"ok": True, "injected_kids": ["aa"]},
            injected=("aa",),
            transfer_ms=self.transfer_ms,
        )


class Desk:
    """A Preparation, and requests for it."""

    def __init__(self, *fleet: Instance, allowed: Sequence[str] = (KDN,), **rules: Any) -> None:
        self.way = Way(*fleet, **rules)
        self.peers = Peers(self.way)
        self.preparation = Preparation(
            proxy=self.way.proxy,
            topology=self.way.topology,
            kdns=cast(Kdns, self.peers),
            rules=InjectionRules(**rules),
            allowed=allowed,
        )

    def begin(self, story: Story | None = None, **task: Any) -> Passage:
        """Place a request, and decide."""
        request = a_forwarded_request(self.way.clock, **task)
        placement = placed(self.way.proxy, request)
        return self.preparation.begin(request, placement, story or Story(request))

    def ready(self, **task: Any) -> Passage:
        """Take a request to its Instance, which must work at once."""
        passage = self.begin(**task)
        waiter = Waiter(self.preparation.ready(passage))
        assert waiter.is_over
        assert waiter.error is None, waiter.error
        return passage


async def test_the_stages_are_marked_as_they_happen() -> None:
    desk = Desk()
    start = 1_700_000_000_000
    trace = desk.ready().story.trace.values
    moments = {
        "proxy_enqueue_ms": 0, "prepare_queue_enqueue_ms": 0, "prepare_dequeue_ms": 0,
        "prepare_start_ms": 0, "kdn_fetch_start_ms": 0, "kdn_fetch_end_ms": 5,
        "kv_inject_queue_enqueue_ms": 5, "kv_inject_start_ms": 5, "kv_ack_start_ms": 5,
        "kv_ack_end_ms": 505, "kv_inject_end_ms": 505, "prompt_injected_ms": 505,
        "ready_enqueue_ms": 505, "ready_dequeue_ms": 505, "forward_start_ms": 505,
    }  # fmt: skip
    assert {name: trace[name] - start for name in moments} == pytest.approx(moments, abs=1)  # type: ignore[operator]
    assert (trace["prepare_seq"], trace["ready_release_seq"]) == (1, 1)
    assert trace["ready_release_policy"] == "ordered"
    assert trace["ready_release_bypass"] == 0
    assert "ready_release_blocked_seq" not in trace, "null is not sent"


async def test_text_is_marked_as_text() -> None:
    trace = Desk().ready(mode="text").story.trace.values
    assert trace["text_prefill_build_start_ms"] <= trace["text_prefill_build_end_ms"]  # type: ignore[operator]
    assert trace["text_actual_path"] == "text_inject"
    assert "kv_inject_start_ms" not in trace


async def test_a_prompt_without_knowledge_passes_every_stage_at_once() -> None:
    desk = Desk()
    passage = desk.ready(wants_knowledge=False)
    trace = passage.story.trace.values
    names = (
        "prepare_queue_enqueue_ms", "prepare_dequeue_ms", "prepare_start_ms", "ready_enqueue_ms",
        "ready_dequeue_ms", "forward_start_ms",
    )  # fmt: skip
    assert {trace[name] for name in names} == {1_700_000_000_000}
    assert passage.ticket is None, "it takes no slot of anybody"
    assert passage.body is None, "it goes as it came"
    assert desk.peers.looked_up == []


async def test_a_plain_clients_request_that_asks_for_its_meta_is_only_marked() -> None:
    desk = Desk()
    passage = desk.ready(plain=True)
    assert passage.story.trace.values["forward_start_ms"] == 1_700_000_000_000
    assert (passage.reservation, passage.ticket, passage.forecast) == (None, None, None)
    passage.end()
    assert desk.way.is_clean


async def test_what_the_scheduler_asked_for_and_has_no_effect_is_told() -> None:
    trace = Desk().ready(ignored=("Enable_PD_Disaggregation",)).story.trace.values
    assert trace["ignored_fields"] == "Enable_PD_Disaggregation"


async def test_what_was_put_in_front_is_what_is_predicted() -> None:
    desk = Desk()
    passage = desk.ready(knowledge_ids=("aa", "zz"), knowledge_tokens=2048)
    assert passage.forecast is not None
    assert passage.forecast.total_tokens == 50 + 1024
    assert passage.forecast.reused_tokens == 1024
    assert passage.reservation is not None
    assert passage.reservation.path == "kv"


async def test_the_link_is_given_back_when_the_kv_is_there() -> None:
    desk = Desk()
    passage = desk.ready()
    assert passage.link is None
    assert len(desk.way.proxy.turnstiles.links) == 0


@pytest.mark.parametrize("told_ms", [None, 400.0])
async def test_a_transfer_teaches_the_link(told_ms: float | None) -> None:
    """The node's own word counts where there is one, else the time until the answer."""
    desk = Desk()
    desk.peers.transfer_ms = told_ms
    passage = desk.ready()
    assert passage.decision is not None
    assert passage.decision.terms is not None
    model_ms = passage.decision.terms.kv_transfer_model_ms
    factor = desk.way.proxy.forecasts.of(passage.member).corrections.transfer.factor
    assert factor == pytest.approx((told_ms or 500.0) / model_ms)


async def test_a_transfer_that_had_to_wait_teaches_nothing_by_its_length() -> None:
    desk = Desk()
    desk.begin()  # its transfer is under way
    passage = desk.ready()
    assert desk.way.proxy.forecasts.of(passage.member).corrections.transfer.count == 0


async def test_a_lookup_beside_a_transfer_teaches_whether_it_had_to_wait() -> None:
    desk = Desk()
    desk.begin()
    desk.peers.lookup_s = 0.003  # as long as on an idle node
    desk.ready(mode="text")
    assert desk.way.proxy.forecasts.lookup_share_ratio(KDN) == pytest.approx(0.5)


async def test_it_is_noted_how_a_node_answers() -> None:
    desk = Desk()
    nodes = desk.way.proxy.nodes
    address = KDN.rpartition("://")[2]
    desk.ready()
    answered = nodes.of(address)
    assert answered is not None
    assert answered.answers

    async def refuse(address: str, knowledge_ids: Sequence[str]) -> Lookup:
        raise UpstreamError(f"{address} refused the connection.", peer=address)

    desk.peers.lookup = refuse  # type: ignore[method-assign]
    desk.ready()
    failed = nodes.of(address)
    assert failed is not None
    assert (failed.answers, failed.error) == (False, f"{address} refused the connection.")


async def test_nobody_is_asked_twice_for_what_was_found() -> None:
    desk = Desk(an_instance("i-1", port=1), an_instance("i-2", port=2))
    first = desk.ready()
    found = first.story.found
    desk.way.clock.wait(1.0)
    first.end()
    again = desk.begin(first.story)
    assert again.member is not first.member
    assert Waiter(desk.preparation.ready(again)).is_over
    assert len(desk.peers.looked_up) == 1
    assert len(desk.peers.ordered) == 2
    assert again.story.found is found
    trace = again.story.trace.values
    assert trace["prepare_start_ms"] <= trace["kdn_fetch_start_ms"]  # type: ignore[operator]
    assert trace["kdn_fetch_start_ms"] <= trace["kv_ack_start_ms"]  # type: ignore[operator]


async def test_of_a_last_attempt_only_that_one_is_told() -> None:
    desk = Desk(an_instance("i-1", port=1), an_instance("i-2", port=2), strategy="iws")
    first = desk.ready()
    assert first.path == "kv_inject"
    first.end()
    forecasts = desk.way.proxy.forecasts
    forecasts.of(member_of(desk.way.proxy, "i-2")).corrections.text_prefill.observe(1000, 20)
    again = desk.begin(first.story)
    assert Waiter(desk.preparation.ready(again)).is_over
    told = again.story.told()
    trace = again.story.trace.values
    assert trace["text_actual_path"] == "text_inject"
    assert "kvcache_actual_path" not in trace
    assert told["kv_ack"] == {}


# Full, gone, late


async def test_a_full_queue_says_how_full_it_is() -> None:
    desk = Desk()
    rules = desk.way.passage().gate.board.rules
    held = [desk.begin() for _ in range(rules.prepare_concurrency + rules.max_queue)]
    for passage in held:
        assert passage.gate.board.enqueue(passage.new_ticket())
    late = desk.begin()
    error = Waiter(desk.preparation.ready(late)).error
    assert isinstance(error, QueueFull)
    assert error.message == (
        "256 requests wait to be prepared at i-1, and no more than 256 may (queues.max_queue)."
    )
    assert error.retry_after_s == 1.0
    late.end()
    assert len(late.gate.upcoming) == len(held)


async def test_a_full_instance_with_a_cap_says_so_too() -> None:
    desk = Desk(an_instance("i-1", max_concurrent=1))
    board = desk.ready(wants_knowledge=False).gate.board
    for _ in range(board.rules.max_queue):
        assert board.enter(desk.begin(wants_knowledge=False).new_ticket())
    error = Waiter(desk.preparation.ready(desk.begin(wants_knowledge=False))).error
    assert isinstance(error, QueueFull)
    assert error.message.startswith("256 requests wait to be sent at i-1, ")


async def test_an_instance_that_has_fallen_silent_meanwhile_gets_nothing() -> None:
    desk = Desk()

    async def silence() -> None:
        desk.way.clock.wait(60.0)

    desk.peers.before = silence
    passage = desk.begin()
    assert isinstance(Waiter(desk.preparation.ready(passage)).error, InstanceLeft)
    assert passage.reservation is None


async def test_an_instance_that_is_replaced_meanwhile_gets_nothing() -> None:
    desk = Desk()

    async def leave() -> None:
        desk.way.proxy.pool.unregister("i-1")

    desk.peers.before = leave
    assert isinstance(Waiter(desk.preparation.ready(desk.begin())).error, InstanceLeft)


async def test_an_order_that_comes_too_late_does_not_speak_of_addresses() -> None:
    desk = Desk()

    async def late() -> None:
        raise UpstreamTimeout("10.0.0.9:9002 did not answer within 60 s.", peer="10.0.0.9:9002")

    desk.peers.before = late
    passage = desk.ready()
    assert passage.path == "kv_inject_failed_fallback_text"
    assert passage.story.kv_ack["detail"] == "i-1 did not answer within 60 s."
    assert passage.forecast is not None
    assert passage.forecast.reused_tokens == 0


@pytest.mark.parametrize(
    ("allowed", "address", "may"),
    [
        ([KDN], KDN, True),
        ([KDN], f"http://{KDN}", True),
        ([KDN], "10.0.0.7:9102", False),
        ([], KDN, False),
        (["*"], "192.0.2.1:80", True),
        (["*"], "no address", False),
        ([KDN], "10.0.0.7", False),
    ],
)
async def test_only_nodes_that_are_known_are_asked(
    allowed: list[str], address: str, may: bool
) -> None:
    desk = Desk(allowed=allowed)
    passage = desk.ready(kdn_address=address)
    assert bool(desk.peers.looked_up) is may
    assert (passage.story.error is None) is may
    assert (passage.path == "lookup_failed") is not may
    assert passage.link is None


async def test_a_node_that_the_settings_or_a_report_name_is_known() -> None:
    desk = Desk(allowed=[])
    desk.way.measured()
    assert desk.ready().path == "kv_inject"
    assert desk.peers.looked_up == [(KDN, ("aa",))]


async def test_a_mistake_in_a_decision_gives_back_what_was_reserved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(strategy="default")
    desk.way.measured()
    decide = Decider.decide
    reserved: list[int] = []

    def mistake(self: Decider, task: Task, passage: Passage) -> None:
        decide(self, task, passage)
        reserved.append(len(desk.way.proxy.turnstiles.links))
        raise ZeroDivisionError

    monkeypatch.setattr(Decider, "decide", mistake)
    with pytest.raises(ZeroDivisionError):
        desk.begin()

    assert reserved == [1], "there was something to give back"
    assert desk.way.is_clean
