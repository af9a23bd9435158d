"""Everything a request holds is given back once, and written down once."""

from pathlib import Path
from typing import Any

import pytest

from cacheroute.core.tally import Histogram
from cacheroute.runtime.held import Held
from cacheroute.runtime.proxy import Placement, Proxy
from cacheroute.runtime.request_log import RequestLog
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.core.routing.routing_builders import a_request
from tests.cacheroute.runtime.knowledge_parts import Way
from tests.cacheroute.runtime.runtime_parts import (
    HandClock,
    a_json_watch,
    a_proxy,
    a_stream_watch,
    an_exchange,
    an_inbound,
    member_of,
    placed,
)

USAGE = (
    b'{"usage":{"prompt_tokens":700,"completion_tokens":11,'
    b'"prompt_tokens_details":{"cached_tokens":512}}}'
)


class Desk:
    """A Proxy with two Instances, and a log that is never written."""

    def __init__(self, strategy: str = "least_load") -> None:
        self.proxy, self.clock = a_proxy(
            an_instance("i-1", port=1), an_instance("i-2", port=2), strategy=strategy
        )
        self.log = RequestLog(max_bytes=1, keep=1)
        self.log.path = Path("/nonexistent")
        self.request = a_request()
        self.request.arrived_mono_s = self.clock.mono_s
        self.request.arrived_wall_s = self.clock.wall_s
        self.inbound = an_inbound()

    def held(self) -> Held:
        return Held(self.proxy, self.log, self.request, self.inbound)

    @property
    def records(self) -> list[dict[str, Any]]:
        return [
            {name: getattr(record, name) for name in record.__struct_fields__}
            for record in self.log._waiting
        ]


def inflight(proxy: Proxy) -> dict[str, int]:
    return {key: member.inflight for key, member in proxy.pool.members.items()}


def count(histogram: Histogram) -> int:
    return sum(histogram.counts)


def test_a_request_that_went_well_gives_back_and_is_counted() -> None:
    desk = Desk()
    held = desk.held()
    desk.clock.wait(0.5)
    held.take(placed(desk.proxy, desk.request), an_exchange(a_json_watch(USAGE)))
    assert inflight(desk.proxy) == {"i-1": 1, "i-2": 0}
    desk.clock.wait(2.0)
    desk.inbound.status, desk.inbound.bytes_out = 200, 77
    held.settle("ok")
    assert inflight(desk.proxy) == {"i-1": 0, "i-2": 0}
    tally = desk.proxy.tally(member_of(desk.proxy, "i-1"))
    assert (tally.requests, tally.failures) == (1, {})
    assert (tally.prompt_tokens, tally.completion_tokens, tally.cached_tokens) == (700, 11, 512)
    assert tally.duration_ms.total == pytest.approx(2500)
    assert tally.queue_wait_s.total == pytest.approx(0.5)
    assert count(tally.ttft_s) == count(tally.tpot_s) == 0
    (record,) = desk.records
    assert record == {
        "at": desk.request.arrived_wall_s, "request_id": "req-1", "endpoint": "chat/completions",
        "model": "m", "stream": False, "caller": "native", "instance": "i-1", "attempts": 1,
        "status": 200, "outcome": "ok", "ttft_ms": None, "e2e_ms": 2500.0, "prompt_tokens": 700,
        "completion_tokens": 11, "cached_tokens": 512, "bytes_in": 2, "bytes_out": 77,
        "error": None, "knowledge": None,
    }  # fmt: skip


def unanswered(desk: Desk, instance_id: str = "i-1") -> float | None:
    return desk.proxy.pool.view(member_of(desk.proxy, instance_id), desk.clock.now()).unanswered_s


def placed_at_i_1(desk: Desk) -> Placement:
    placement = placed(desk.proxy, desk.request)
    return placement if placement.member is member_of(desk.proxy, "i-1") else placed_at_i_1(desk)


def test_an_instance_is_waited_for_from_the_sending_to_the_end_of_an_answer() -> None:
    desk = Desk()
    held = desk.held()
    assert unanswered(desk) is None
    held.take(placed(desk.proxy, desk.request), an_exchange())
    desk.clock.wait(90.0)
    assert unanswered(desk) == 90.0
    held.settle("ok")
    assert unanswered(desk) is None


def test_a_stream_is_waited_for_until_its_first_token() -> None:
    desk = Desk()
    desk.request.stream = True
    held, exchange = desk.held(), an_exchange(a_stream_watch())
    held.take(placed(desk.proxy, desk.request), exchange)
    desk.clock.wait(8.0)
    assert unanswered(desk) == 8.0
    assert exchange.on_first_token is not None
    exchange.on_first_token(desk.clock.mono_s)
    assert unanswered(desk) is None
    held.settle("ok")
    assert unanswered(desk) is None


def test_an_answer_counts_for_all_that_wait_and_a_client_that_leaves_is_none() -> None:
    desk = Desk("round_robin")
    first, second, third = (desk.held() for _ in range(3))
    for held in (first, second, third):
        held.take(placed_at_i_1(desk), an_exchange())
    desk.clock.wait(40.0)
    first.settle("client_gone")
    assert unanswered(desk) == 40.0
    second.settle("ok")
    desk.clock.wait(5.0)
    assert unanswered(desk) == 5.0
    third.let_go()
    assert unanswered(desk) is None


def test_one_that_follows_on_one_that_was_given_up_waits_on() -> None:
    desk = Desk("round_robin")
    for waited_s, shown_s in ((6.0, 6.0), (6.0, 14.0)):
        held = desk.held()
        held.take(placed_at_i_1(desk), an_exchange())
        desk.clock.wait(waited_s)
        assert unanswered(desk) == shown_s
        desk.inbound.status = 200
        held.settle("upstream_lost")
        desk.clock.wait(2.0)
    desk.clock.wait(9.0)
    desk.held().take(placed_at_i_1(desk), an_exchange())
    assert unanswered(desk) is None
    desk.clock.wait(5.0)
    assert unanswered(desk) == 5.0


@pytest.mark.parametrize("end", ["another is tried", "it is passed on"])
def test_an_error_is_an_answer_too(end: str) -> None:
    desk = Desk("round_robin")
    held, busy = desk.held(), an_exchange(status=503)
    held.take(placed_at_i_1(desk), busy)
    desk.clock.wait(20.0)
    busy.opened = True
    if end == "another is tried":
        held.let_go()
    else:
        held.settle("upstream_busy")
    desk.held().take(placed_at_i_1(desk), an_exchange())
    assert unanswered(desk) is None
    desk.clock.wait(6.0)
    assert unanswered(desk) == 6.0


def test_a_second_settling_does_nothing() -> None:
    desk = Desk()
    held = desk.held()
    held.take(placed(desk.proxy, desk.request), an_exchange())
    other = placed(desk.proxy, desk.request)
    held.settle("ok")
    held.settle("internal_error", "boom")
    assert held.is_settled
    assert len(desk.records) == 1
    assert other.held
    assert sum(inflight(desk.proxy).values()) == 1
    assert desk.proxy.tally(member_of(desk.proxy, "i-1")).failures == {}


def test_times_of_a_stream_are_taken_from_its_first_token() -> None:
    desk = Desk()
    held = desk.held()
    token = b'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
    watch = a_stream_watch(
        token, b"data: " + USAGE + b"\n\n", first_token_s=desk.clock.mono_s + 0.25
    )
    held.take(placed(desk.proxy, desk.request), an_exchange(watch))
    desk.clock.wait(1.25)
    held.settle("ok")
    tally = desk.proxy.tally(member_of(desk.proxy, "i-1"))
    assert tally.ttft_s.total == pytest.approx(0.25)
    assert tally.tpot_s.total == pytest.approx(1.0 / 10)
    assert desk.records[0]["ttft_ms"] == 250.0


@pytest.mark.parametrize("tokens", [0, 1])
def test_one_token_has_no_time_per_token(tokens: int) -> None:
    desk = Desk()
    held = desk.held()
    usage = b'data: {"usage":{"prompt_tokens":1,"completion_tokens":%d}}\n\n' % tokens
    watch = a_stream_watch(b"data: x\n\n", usage, first_token_s=desk.clock.mono_s)
    held.take(placed(desk.proxy, desk.request), an_exchange(watch))
    held.settle("ok")
    tally = desk.proxy.tally(member_of(desk.proxy, "i-1"))
    assert (count(tally.ttft_s), count(tally.tpot_s)) == (1, 0)


def test_one_that_reached_nobody_is_counted_for_nobody() -> None:
    desk = Desk()
    desk.held().settle("no_instance", "No Instance is registered.", 503)
    assert desk.proxy.nowhere.requests == 1
    assert desk.proxy.nowhere.failures == {"no_instance": 1}
    assert not desk.proxy.tallies
    (record,) = desk.records
    assert (record["instance"], record["attempts"], record["status"]) == (None, 0, 503)
    assert record["error"] == "No Instance is registered."


def test_the_status_that_was_sent_outranks_the_one_that_was_meant() -> None:
    desk = Desk()
    desk.inbound.status = 200
    desk.held().settle("upstream_lost", status=502)
    assert desk.records[0]["status"] == 200


def test_a_client_that_left_before_any_answer_was_sent_none() -> None:
    desk = Desk()
    desk.held().settle("client_gone")
    assert desk.records[0]["status"] is None


@pytest.mark.parametrize("strategy", ["round_robin", "least_load"])
def test_a_second_try_lets_the_first_one_go(strategy: str) -> None:
    desk = Desk(strategy)
    held = desk.held()
    first = placed(desk.proxy, desk.request)
    failed = an_exchange(ended=False)
    held.take(first, failed)
    held.let_go()
    assert not first.held
    assert failed._outbound.done
    assert held.tried == (first.member,)
    second = placed(desk.proxy, desk.request, held.tried, 2)
    held.take(second, an_exchange())
    assert inflight(desk.proxy) == {"i-1": 0, "i-2": 1}
    held.settle("ok")
    assert inflight(desk.proxy) == {"i-1": 0, "i-2": 0}
    (record,) = desk.records
    assert (record["instance"], record["attempts"]) == ("i-2", 2)


def test_an_answer_that_has_not_ended_is_cut_off_at_the_instance() -> None:
    desk = Desk()
    for ended in (True, False):
        held = desk.held()
        exchange = an_exchange(ended=ended)
        held.take(placed(desk.proxy, desk.request), exchange)
        held.settle("client_gone")
        assert exchange._outbound.done is not ended


def test_an_instance_that_leaves_meanwhile_upsets_nothing() -> None:
    desk = Desk()
    held = desk.held()
    held.take(placed(desk.proxy, desk.request), an_exchange())
    member = member_of(desk.proxy, "i-1")
    desk.proxy.pool.unregister("i-1")
    desk.proxy.forget(member)
    held.settle("ok")
    assert member.inflight == 0
    assert desk.records[0]["instance"] == "i-1"


def test_instances_that_come_and_go_leave_no_counters_behind() -> None:
    """Each comes with a name of its own and leaves while a request runs on it."""
    desk = Desk()
    for _ in range(20):
        held = desk.held()
        placement = placed(desk.proxy, desk.request)
        held.take(placement, an_exchange())
        instance = placement.member.instance
        desk.proxy.pool.unregister(instance.instance_id)
        desk.proxy.forget(placement.member)
        held.settle("ok")
        desk.proxy.pool.register(instance, desk.clock.now())
    assert len(desk.proxy.tallies) <= 2
    assert desk.proxy.departed.requests == 20, "and every request is counted all the same"


@pytest.mark.parametrize("is_tried_elsewhere", [False, True])
async def test_what_an_instance_teaches_after_it_has_left_is_not_kept(
    is_tried_elsewhere: bool,
) -> None:
    way = Way()
    for _ in range(20):
        passage = way.decided()
        held = Held(way.proxy, RequestLog(max_bytes=1, keep=1), passage.request, an_inbound())
        instance = passage.member.instance
        held.wait(passage)
        way.proxy.pool.unregister(instance.instance_id)
        way.proxy.forget(passage.member)
        way.forecast(passage)
        if is_tried_elsewhere:
            held.let_go()
        held.settle("ok")
        way.proxy.pool.register(instance, way.clock.now())
    assert not list(way.proxy.forecasts.known())


def test_the_index_hears_of_what_is_given_back() -> None:
    desk = Desk()
    held = desk.held()
    held.take(placed(desk.proxy, desk.request), an_exchange())
    assert placed(desk.proxy, desk.request).member.instance.instance_id == "i-2"
    held.settle("ok")
    assert placed(desk.proxy, desk.request).member.instance.instance_id == "i-1"


def test_a_clock_that_stands_still_measures_nothing_negative() -> None:
    desk = Desk()
    assert isinstance(desk.clock, HandClock)
    desk.held().settle("ok")
    assert desk.records[0]["e2e_ms"] == 0.0
