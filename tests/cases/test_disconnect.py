"""C022, C023: who leaves is noticed at once, and who only stops sending is not taken for gone."""

import asyncio
from collections.abc import Callable

import pytest

from tests.support.backend import scripted
from tests.support.client import RawClient, connected, post
from tests.support.openai_shapes import (
    CHAT,
    DONE,
    chat,
    chunk_object,
    completion,
    sse,
    token,
    tokens,
)
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.script import (
    END,
    Freeze,
    Gate,
    Pause,
    Script,
    Step,
    chunk,
    json_answer,
    stream_head,
)

SOON_S = 1.5
"""Bound for what must happen within a second, with room for a busy machine."""

leaving = pytest.mark.parametrize(
    "leave", [RawClient.reset, RawClient.close], ids=["reset", "closed"]
)
MID_STREAM: Script = (
    stream_head(),
    *map(chunk, tokens(3)),
    *(step for n in range(200) for step in (Pause(0.1), chunk(token(f"{n}")))),
)
"""Twenty seconds of events; a client that has closed is noticed when the next one is sent."""
INSIDE_JSON: Script = (
    stream_head(content_type="application/json"),
    *(step for _ in range(200) for step in (chunk(b" "), Pause(0.1))),
)


@leaving
@pytest.mark.parametrize(
    ("script", "stream"),
    [
        ((Freeze(),), True),
        ((stream_head(), Freeze()), True),
        ((stream_head(), chunk(b"data: {"), Freeze()), True),
        (MID_STREAM, True),
        ((Freeze(),), False),
        (INSIDE_JSON, False),
    ],
    ids=[
        "before the head",
        "between head and first event",
        "inside the first event",
        "mid-stream",
        "waiting for JSON",
        "inside JSON",
    ],
)
async def test_c022_c023_a_client_that_leaves_ends_the_work_upstream(
    script: Script, stream: bool, leave: Callable[[RawClient], None]
) -> None:
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=stream))
            received = await backend.received()
            if script is MID_STREAM:
                await client.until(lambda a: len(a.events) >= 3)
            else:
                await asyncio.sleep(0.05)
            leave(client)
            async with asyncio.timeout(SOON_S):
                await received.gone.wait()
        await proxy.idle(within_s=SOON_S)
        assert len(backend.requests) == 1


@leaving
async def test_c022_a_client_that_reads_nothing_and_leaves_is_noticed(
    leave: Callable[[RawClient], None],
) -> None:
    flood = [chunk(token("x" * 60_000)) for _ in range(400)]
    async with (
        scripted((stream_head(), *flood, Freeze())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            await client.until(lambda a: a.pieces)
            client.stop_reading()
            await asyncio.sleep(0.2)
            leave(client)
            async with asyncio.timeout(SOON_S):
                await backend.requests[0].gone.wait()
        await proxy.idle(within_s=SOON_S)


async def test_c022_clients_that_leave_are_no_failures_of_the_instance() -> None:
    async with (
        scripted(MID_STREAM) as backend,
        scripted() as other,
        running_proxy(backend.url, other.url, pool__ejection__failures=2, **LONG_REST) as proxy,
    ):
        left = 0
        while left < 5:
            async with connected(proxy.service_port) as client:
                answer = client.ask("POST", CHAT, body=chat(stream=True))
                await client.until(lambda a: a.whole or len(a.events) >= 3)
                left += not answer.whole
                client.reset()
        await proxy.idle(within_s=SOON_S)
        backend.reply = json_answer(completion())
        before = len(backend.requests)
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(backend.requests) == before + 2
        assert await proxy.unhappy_ends() == {"client_gone": 5}


async def test_c022_usage_that_came_before_the_client_left_is_kept() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    said = sse(chunk_object({"content": "a"}, usage=usage))
    async with (
        scripted((stream_head(), chunk(said), Freeze())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            await client.until(lambda a: a.events)
            client.reset()
        await proxy.idle(within_s=SOON_S)
        counted = await proxy.samples("tokens", "kind")
        assert (counted["prompt"], counted["completion"]) == (7, 2)


async def test_c022_a_client_that_leaves_during_failover_stops_it() -> None:
    async with (
        scripted((Freeze(),)) as first,
        scripted((Freeze(),)) as second,
        running_proxy(first.url, second.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat())
            await first.received()
            client.reset()
            async with asyncio.timeout(SOON_S):
                await first.requests[0].gone.wait()
        await proxy.idle(within_s=SOON_S)
        assert not second.requests


async def test_c023_a_client_that_half_closes_gets_its_json() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as backend,
        running_proxy(backend.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat())
            client.half_close()
            received = await backend.received()
            await asyncio.sleep(1.0)
            assert not received.gone.is_set()
            gate.open()
            answer = await client.over()
        assert answer.status == 200
        assert answer.json() == completion()


async def test_c023_a_client_that_half_closes_gets_its_whole_stream() -> None:
    gates = [Gate() for _ in range(3)]
    steps: list[Step] = []
    for gate, event in zip(gates, tokens(3), strict=True):
        steps += [gate, chunk(event)]
    async with (
        scripted((stream_head(), *steps, chunk(DONE), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            client.half_close()
            for n, gate in enumerate(gates, start=1):
                await asyncio.sleep(0.3)
                gate.open()
                await client.until(lambda a, n=n: len(a.events) >= n)  # type: ignore[misc]
            answer = await client.over()
        assert answer.whole
        assert answer.body == b"".join(tokens(3)) + DONE
        assert not any(head.start.startswith(b"HTTP/1.1 1") for head in answer.interim[1:])


async def test_c023_an_http_10_client_that_half_closes_sees_no_interim_head() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as backend,
        running_proxy(backend.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            body = chat()
            client.expect("POST")
            client.send(
                b"POST /v1/chat/completions HTTP/1.0\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            client.half_close()
            await backend.received()
            await asyncio.sleep(0.5)
            gate.open()
            answer = await client.over()
        assert answer.json() == completion()
        assert not answer.interim


async def test_c023_many_that_leave_free_every_slot() -> None:
    async with scripted((Freeze(),)) as backend, running_proxy(backend.url) as proxy:
        for _ in range(30):
            async with connected(proxy.service_port) as client:
                client.ask("POST", CHAT, body=chat())
                await backend.received(len(backend.requests) + 1)
        await proxy.idle(within_s=SOON_S)
        backend.reply = json_answer(completion())
        assert (await post(proxy.service_port, chat())).status == 200


async def test_c023_a_client_that_leaves_after_its_answer_is_nobodys_fault() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        for _ in range(10):
            assert (await post(proxy.service_port, chat())).status == 200
        await proxy.idle()
        assert await proxy.failures() == 0
        # What was left behind is usable: the upstream connection went on living.
        assert len({received.connection for received in backend.requests}) <= 2
