"""C031, C032: a kept connection that has died fails nobody, and no default caps the fleet."""

import asyncio

import pytest

from tests.support.backend import ScriptedBackend, scripted
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, token
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.received import Received
from tests.support.script import (
    END,
    JSON,
    Close,
    Gate,
    Pause,
    Script,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream_head,
)
from tests.support.waiting import eventually


def each_answered_once(backend: ScriptedBackend, count: int) -> None:
    """Every request reached the backend, none of them twice."""
    said = [received.json()["messages"][0]["content"] for received in backend.requests]
    assert said == [f"number {n}" for n in range(count)]


@pytest.mark.parametrize("stream", [False, True], ids=["JSON", "stream"])
async def test_c031_an_idle_end_upstream_fails_nobody(stream: bool) -> None:
    script = (stream_head(), chunk(DONE), END) if stream else json_answer(completion())
    async with (
        scripted(script, idle_close_s=0.06) as backend,
        running_proxy(backend.url, timeouts__pool_idle_s=30) as proxy,
    ):
        gaps_s = [0.05, 0.055, 0.06, 0.06, 0.065, 0.07, 0.12]
        for n in range(28):
            got = await post(proxy.service_port, chat(f"number {n}", stream=stream))
            assert got.status == 200
            await asyncio.sleep(gaps_s[n % len(gaps_s)])
        each_answered_once(backend, 28)
        assert await proxy.failures() == 0


@pytest.mark.parametrize("on_reuse", ["reset", "close"])
@pytest.mark.parametrize("stream", [False, True], ids=["JSON", "stream"])
async def test_c031_a_kept_connection_that_dies_on_new_data_gets_one_fresh_try(
    on_reuse: str, stream: bool
) -> None:
    script = (stream_head(), chunk(DONE), END) if stream else json_answer(completion())
    async with (
        scripted(script, on_reuse=on_reuse) as backend,
        scripted() as other,
        running_proxy(
            backend.url, other.url,
            pool__ejection__failures=1, timeouts__pool_idle_s=30, **LONG_REST,
        ) as proxy,
    ):  # fmt: skip
        for _ in range(20):
            got = await post(proxy.service_port, chat(stream=stream))
            assert got.status == 200
            assert got.whole
        # A stale connection is not the Instance's failure: it keeps its share.
        assert (len(backend.requests), len(other.requests)) == (10, 10)


async def test_c031_many_stale_connections_at_once_fail_nobody() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as backend,
        running_proxy(backend.url, timeouts__pool_idle_s=30) as proxy,
    ):
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(post(proxy.service_port, chat()))
            await backend.received(20)
            gate.open()
        backend.on_reuse = "reset"
        late = await asyncio.gather(*(post(proxy.service_port, chat()) for _ in range(20)))
        assert [got.status for got in late] == [200] * 20
        assert len(backend.requests) == 40


async def test_c031_a_fresh_connection_that_dies_is_not_tried_for_ever() -> None:
    async with scripted((Close(),)) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat())
        assert got.status == 502
        assert got.error["message"]
        assert len(backend.requests) <= 2


async def test_c031_our_idle_limit_closes_first() -> None:
    async with (
        scripted() as backend,
        running_proxy(backend.url, timeouts__pool_idle_s=0.3) as proxy,
    ):
        await asyncio.gather(*(post(proxy.service_port, chat()) for _ in range(5)))
        await backend.closed_down_to(1, within_s=4)
        assert (await post(proxy.service_port, chat())).status == 200


async def test_c031_connections_ended_by_the_backend_are_let_go() -> None:
    async with (
        scripted(idle_close_s=0.05) as backend,
        running_proxy(backend.url, timeouts__pool_idle_s=60) as proxy,
    ):
        await asyncio.gather(*(post(proxy.service_port, chat()) for _ in range(10)))
        await backend.closed_down_to(0)
        assert (await post(proxy.service_port, chat())).status == 200


async def test_c031_an_instance_that_leaves_the_pool_keeps_no_connection() -> None:
    async with scripted() as backend, running_proxy(timeouts__pool_idle_s=60) as proxy:
        await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        await asyncio.gather(*(post(proxy.service_port, chat()) for _ in range(5)))
        await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i"})
        await backend.closed_down_to(0)
        await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        assert (await post(proxy.service_port, chat())).status == 200


def closing(received: Received) -> Script:
    """Answer and say that this connection is over, but leave it to the peer to act."""
    return json_answer(completion(), headers=[("Connection", "close")])


def http_10(received: Received) -> Script:
    """Answer as an HTTP/1.0 server does."""
    body = json_answer(completion())[0]
    assert isinstance(body, Write)
    return (Write(body.data.replace(b"HTTP/1.1", b"HTTP/1.0", 1)), Close())


@pytest.mark.parametrize("reply", [closing, http_10])
async def test_c031_a_connection_that_is_said_to_be_over_is_not_used_again(
    reply: object,
) -> None:
    assert callable(reply)
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        for _ in range(5):
            got = await post(proxy.service_port, chat())
            assert got.status == 200
            assert got.json() == completion()
        assert len({received.connection for received in backend.requests}) == 5


@pytest.mark.parametrize(
    "surplus",
    [b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen", b"stolen", b"\r\n"],
    ids=["a whole answer", "garbage", "a blank line"],
)
async def test_c031_bytes_after_an_answer_never_become_the_next_answer(surplus: bytes) -> None:
    first = json_answer(completion())[0]
    assert isinstance(first, Write)
    async with (
        scripted((Write(first.data + surplus),)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        for n in range(6):
            got = await post(proxy.service_port, chat(f"number {n}"))
            assert got.status == 200
            assert got.json() == completion()
        each_answered_once(backend, 6)


async def test_c031_a_cancelled_answer_does_not_leak_into_the_next() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        for _ in range(5):
            backend.reply = (stream_head(), chunk(token("mine")), Gate())
            async with connected(proxy.service_port) as client:
                client.ask("POST", CHAT, body=chat(stream=True))
                await client.until(lambda a: a.events)
            backend.reply = json_answer(completion("yours"))
            assert (await post(proxy.service_port, chat())).json() == completion("yours")


@pytest.mark.parametrize("size", [1000, 20_000_000])
async def test_c031_an_answer_that_comes_before_the_request_is_read_is_passed_on(
    size: int,
) -> None:
    refusal = answer(b'{"error": {"message": "too large"}}', 413)
    async with (
        scripted(early=(*refusal, Pause(0.2), Close())) as backend,
        running_proxy(backend.url) as proxy,
    ):
        for _ in range(2):
            got = await post(proxy.service_port, chat("x" * size))
            assert (got.status, got.body) == (413, b'{"error": {"message": "too large"}}')
        await proxy.idle()


async def test_c031_bodies_with_every_framing_keep_the_connection_usable() -> None:
    plain = b'{"a": 1}'
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    odd_chunks = b"8;x=y\r\n" + plain + b"\r\n0\r\nX-Trailer: 1\r\n\r\n"
    scripts: list[Script] = [
        answer(plain),
        (stream_head(content_type=JSON), chunk(plain), END),
        (Write(head(204)),),
        answer(b""),
        (Write(early + head(200, [("Content-Length", "8")]) + plain),),
        (Write(head(200, [("Transfer-Encoding", "chunked")]) + odd_chunks),),
    ]
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        for script in scripts * 2:
            backend.reply = script
            got = await post(proxy.service_port, chat())
            assert got.whole
            assert got.status in (200, 204)
            assert got.body in (plain, b"")
        assert len({received.connection for received in backend.requests}) == 1


async def test_c032_three_hundred_streams_run_at_once() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), chunk(token("a")), gate, chunk(DONE), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):

        async def one() -> None:
            async with connected(proxy.service_port) as client:
                client.ask("POST", CHAT, body=chat(stream=True))
                await client.until(lambda a: a.events)
                started.append(client)
                assert (await client.over()).whole

        started: list[object] = []
        async with asyncio.TaskGroup() as group:
            for _ in range(300):
                group.create_task(one())
            await eventually(lambda: len(started) == 300)
            assert backend.running == 300
            for path in ("/healthz", "/ready"):
                assert (await fetch(proxy.service_port, "GET", path, within_s=2)).status == 200
            assert await proxy.inflight() == {backend.instance_id: 300}
            gate.open()
        await proxy.idle()


CAP = 2


def capped(backend: ScriptedBackend) -> list[dict[str, object]]:
    """Return the setting of one Instance that takes two requests at once."""
    return [{"name": "small", "url": backend.url, "max_concurrent": CAP}]


async def test_c032_what_is_above_a_configured_cap_is_refused_fast_and_in_words() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as backend,
        running_proxy(backends=capped(backend)) as proxy,
        asyncio.TaskGroup() as group,
    ):
        running = [group.create_task(post(proxy.service_port, chat())) for _ in range(CAP)]
        await backend.received(CAP)
        for _ in range(5):
            got = await post(proxy.service_port, chat(), within_s=2)
            assert got.status in (429, 503)
            assert got.error["message"]
            assert got.header("retry-after")
        assert await proxy.inflight() == {"small": CAP}
        gate.open()
        assert [(await task).status for task in running] == [200] * CAP
        assert (await post(proxy.service_port, chat())).status == 200
        assert backend.most_running == CAP


async def test_c032_a_capped_instance_sends_its_excess_to_one_without_a_cap() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as small,
        scripted((gate, *json_answer(completion()))) as large,
        running_proxy(large.url, backends=capped(small)) as proxy,
        asyncio.TaskGroup() as group,
    ):
        running = [group.create_task(post(proxy.service_port, chat())) for _ in range(20)]
        await eventually(lambda: len(small.requests) + len(large.requests) == 20)
        assert (small.most_running, large.most_running) == (CAP, 20 - CAP)
        gate.open()
        assert {(await task).status for task in running} == {200}
