"""The one table of failover, row by row, through a whole Proxy.

The Instance that fails comes first in turn, so a request that is answered well has been
tried on it before.
"""

import asyncio
from typing import Any

import pytest

from tests.support.backend import ScriptedBackend, refusing, scripted
from tests.support.client import Answer, connected, post
from tests.support.openai_shapes import DONE, chat, completion, sse, token
from tests.support.proxy import LONG_REST, RunningProxy, running_proxy
from tests.support.script import (
    END,
    Close,
    Freeze,
    Gate,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.sse import error_of

GOOD = json_answer(completion("from the good one"))
GOOD_STREAM = stream(token("from the good one"), DONE)


def full(code: object = 503) -> bytes:
    return sse({"error": {"message": "busy", "type": "x", "param": None, "code": code}})


async def asked_twice(
    failing: Script, *, streamed: bool = False, **settings: Any
) -> tuple[Answer, ScriptedBackend, ScriptedBackend]:
    """Ask once, with an Instance that fails like this first in turn."""
    async with (
        scripted(failing) as bad,
        scripted(GOOD_STREAM if streamed else GOOD) as good,
        running_proxy(bad.url, good.url, **settings) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed))
        await proxy.idle()
        return got, bad, good


# Next Instance, before the first byte


@pytest.mark.parametrize(
    "failing",
    [
        (Reset(),),
        (Close(),),
        (Write(b"HTTP/1.1 2"), Reset()),
        (Write(b"nonsense\r\n\r\n"), Close()),
        *(json_answer({"error": "boom"}, status) for status in (408, 500, 502, 504, 529)),
        json_answer({"error": "busy"}, 429, [("Retry-After", "3")]),
        json_answer({"error": "busy"}, 503, [("Retry-After", "3")]),
        json_answer({"error": "busy"}, 503),
    ],
    ids=["reset", "close", "half a status", "no http", "408", "500", "502", "504", "529",
         "429 with a hint", "503 with a hint", "503"],
)  # fmt: skip
@pytest.mark.parametrize("streamed", [False, True], ids=["json", "stream"])
async def test_what_fails_before_the_first_byte_is_asked_elsewhere(
    failing: Script, streamed: bool
) -> None:
    got, bad, good = await asked_twice(failing, streamed=streamed)
    assert got.status == 200
    assert b"from the good one" in got.body
    assert got.header("x-cacheroute-instance") == good.instance_id
    assert (len(bad.requests), len(good.requests)) == (1, 1)
    assert bad.requests[0].sha256 == good.requests[0].sha256


async def test_a_refused_connection_is_asked_elsewhere() -> None:
    async with refusing() as dead, scripted(GOOD) as good, running_proxy(dead, good.url) as proxy:
        for _ in range(3):
            assert (await post(proxy.service_port, chat())).status == 200


@pytest.mark.parametrize(
    "failing",
    [
        stream(full(503), DONE),
        stream(full(500), DONE),
        stream(full(None)),
        stream(b"event: error\ndata: overloaded\n\n"),
        (stream_head(), chunk(full()[:9]), chunk(full()[9:]), END),
        (stream_head(), Reset()),
        (stream_head(), chunk(b'data: {"err'), Reset()),
    ],
    ids=["503 in a 200", "500 in a 200", "no code", "by name", "in two pieces", "a head alone",
         "half an error"],
)  # fmt: skip
async def test_a_stream_that_opens_with_a_failure_is_asked_elsewhere(failing: Script) -> None:
    got, bad, good = await asked_twice(failing, streamed=True)
    assert (got.status, got.body) == (200, token("from the good one") + DONE)
    assert (len(bad.requests), len(good.requests)) == (1, 1)


# Passed through


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422])
async def test_a_mistake_of_the_caller_is_passed_through(status: int) -> None:
    got, bad, good = await asked_twice(answer(b"your fault", status, "text/plain"))
    assert (got.status, got.body) == (status, b"your fault")
    assert (len(bad.requests), len(good.requests)) == (1, 0)


async def test_a_stream_that_opens_with_a_mistake_of_the_caller_is_passed_through() -> None:
    got, bad, good = await asked_twice(stream(full(400), DONE), streamed=True)
    assert got.body == full(400) + DONE
    assert (len(bad.requests), len(good.requests)) == (1, 0)


@pytest.mark.parametrize(
    "failing",
    [
        answer(b"later", 429, "text/plain", [("Retry-After", "7"), ("X-Left", "0")]),
        answer(b"later", 503, "text/plain", [("Retry-After", "7"), ("X-Left", "0")]),
        answer(b"later", 500, "text/plain", [("Retry-After", "7"), ("X-Left", "0")]),
    ],
    ids=["429", "503", "500"],
)
@pytest.mark.parametrize("others", [0, 1])
async def test_when_nobody_else_is_left_the_last_answer_goes_as_it_came(
    failing: Script, others: int
) -> None:
    async with scripted(failing) as one, scripted(failing) as two:
        urls = [one.url, two.url][: 1 + others]
        async with running_proxy(*urls) as proxy:
            got = await post(proxy.service_port, chat())
            assert got.body == b"later"
            assert (got.header("retry-after"), got.header("x-left")) == ("7", "0")
            assert len(one.requests) + len(two.requests) == 1 + others
            await proxy.idle()


async def test_an_instance_that_is_full_is_left_alone_while_its_hint_lasts() -> None:
    busy = json_answer({"error": "busy"}, 429, [("Retry-After", "30")])
    async with scripted(busy) as bad, scripted(GOOD) as good, running_proxy(bad.url, good.url) as p:
        for _ in range(5):
            assert (await post(p.service_port, chat())).status == 200
        assert (len(bad.requests), len(good.requests)) == (1, 5)


async def test_a_connection_that_cannot_be_made_anywhere_is_told_by_name_without_addresses() -> (
    None
):
    async with refusing() as one, running_proxy(f"{one}") as proxy:
        got = await post(proxy.service_port, chat())
        assert got.status == 502
        assert got.error["code"] == "upstream_connect_failed"
        assert "hp_127.0.0.1" in got.error["message"]


async def test_only_so_many_instances_are_tried_for_one_request() -> None:
    async with refusing() as dead:
        host = dead.removeprefix("http://")
        urls = [f"http://{host}/b{n}" for n in range(9)]
        async with running_proxy(*urls) as proxy:
            assert (await post(proxy.service_port, chat())).status == 502
            attempts = [row["attempt"] for row in await proxy.decisions()]
            assert max(attempts) == 5


# Not asked elsewhere, though it failed


async def test_what_was_not_begun_in_time_is_not_begun_again_elsewhere() -> None:
    got, bad, good = await asked_twice((Freeze(),), timeouts__first_byte_s=0.15)
    assert got.status == 504
    assert got.error["code"] == "upstream_timeout"
    assert "timeouts.first_byte_s" in got.error["message"]
    assert (len(bad.requests), len(good.requests)) == (1, 0)


@pytest.mark.parametrize("death", [(Reset(),), (Close(),)], ids=["reset", "close"])
async def test_after_the_first_byte_a_plain_client_gets_an_error_event_and_no_end(
    death: Script,
) -> None:
    got, bad, good = await asked_twice((stream_head(), chunk(token("a")), *death), streamed=True)
    assert got.status == 200
    assert got.cut
    first, last = got.events
    assert first.json()["choices"][0]["delta"] == {"content": "a"}
    error = error_of(last)
    assert error is not None
    assert error["code"] == "upstream_closed"
    assert b"[DONE]" not in got.body
    assert (len(bad.requests), len(good.requests)) == (1, 0)


async def test_after_the_first_byte_a_json_answer_is_cut_and_nothing_is_glued_to_it() -> None:
    said = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"a":'
    got, _, good = await asked_twice((Write(said), Reset()))
    assert got.cut
    assert got.body in (b"", b'{"a":')
    assert not good.requests


# What counts against whom


async def is_resting(proxy: RunningProxy, backend: ScriptedBackend) -> bool:
    """Whether an Instance rests, as the metrics page says."""
    page = await proxy.metrics()
    return f'cacheroute_instance_resting{{instance="{backend.instance_id}"}} 1.0' in page


@pytest.mark.parametrize(
    "failing",
    [
        stream(token("a"), full(500), DONE),
        stream(token("a") + full(500) + DONE),
        (stream_head(), chunk(full(500)), chunk(token("a") + DONE), END),
    ],
    ids=["in pieces", "in one piece", "an error and then more"],
)
async def test_one_broken_stream_is_one_failure(failing: Script) -> None:
    """However the network cuts it: two failures bring a rest here, and this was one."""
    async with (
        scripted(failing) as backend,
        running_proxy(backend.url, pool__ejection__failures=2, **LONG_REST) as proxy,
    ):
        await post(proxy.service_port, chat(stream=True))
        assert not await is_resting(proxy, backend)
        await post(proxy.service_port, chat(stream=True))
        assert await is_resting(proxy, backend)


async def test_a_client_that_leaves_counts_against_nobody() -> None:
    async with (
        scripted((stream_head(), chunk(token("a")), Freeze())) as backend,
        running_proxy(backend.url, pool__ejection__failures=1, **LONG_REST) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", "/v1/chat/completions", body=chat(stream=True))
            await client.body_of(1)
            client.reset()
            await backend.closed_down_to(0)
        await proxy.idle()
        assert not await is_resting(proxy, backend)
        assert await proxy.unhappy_ends() == {"client_gone": 1.0}


async def test_a_good_answer_brings_an_instance_back_from_its_trial() -> None:
    async with (
        scripted(json_answer({}, 500)) as bad,
        scripted(GOOD) as good,
        running_proxy(
            bad.url, good.url, pool__ejection__failures=1, pool__ejection__cool_down_s=0.03
        ) as proxy,
    ):
        await post(proxy.service_port, chat())
        bad.reply = GOOD
        await asyncio.sleep(0.04)
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(bad.requests) >= 2
        assert not await is_resting(proxy, bad)


async def test_failures_that_were_made_good_are_no_failures_of_requests() -> None:
    async with (
        scripted(json_answer({}, 500)) as bad,
        scripted(GOOD) as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        await post(proxy.service_port, chat())
        assert await proxy.unhappy_ends() == {}
        ended = await proxy.samples("requests", "backend")
        assert ended == {"": 0.0, bad.instance_id: 0.0, good.instance_id: 1.0}


# Instances that leave meanwhile


async def test_who_waits_on_an_instance_that_leaves_is_moved_to_another() -> None:
    async with (
        scripted((Freeze(),)) as stuck,
        scripted(GOOD) as good,
        running_proxy() as proxy,
        connected(proxy.service_port) as client,
    ):
        await proxy.register(instance_id="stuck", host="127.0.0.1", port=stuck.port)
        client.ask("POST", "/v1/chat/completions", body=chat())
        await stuck.received()
        await proxy.register(instance_id="good", host="127.0.0.1", port=good.port)
        await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "stuck"})
        got = await client.over()
        assert got.header("x-cacheroute-instance") == "good"


async def test_an_answer_that_has_begun_goes_on_after_its_instance_has_left() -> None:
    """It leaves within the first event, before it is known whether that is an error."""
    gate = Gate()
    first = sse({"object": "chat.completion.chunk", "choices": [{"delta": {"content": "x"}}]})
    script = (stream_head(), chunk(first[:20]), gate, chunk(first[20:] + DONE), END)
    async with scripted(script) as backend, running_proxy() as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=backend.port)
        async with connected(proxy.service_port) as client:
            client.ask("POST", "/v1/chat/completions", body=chat(stream=True))
            await backend.received()
            await asyncio.sleep(0.05)
            await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i-1"})
            gate.open()
            got = await client.over()
    assert (got.status, got.body) == (200, first + DONE)
    assert got.header("x-cacheroute-instance") == "i-1"
