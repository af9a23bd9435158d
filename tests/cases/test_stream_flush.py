"""C004, C005: every event travels when it is written, and nobody on the way may gather them."""

import asyncio

import pytest

from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, token, tokens
from tests.support.proxy import running_proxy
from tests.support.received import Received
from tests.support.script import (
    END,
    SSE,
    Gate,
    Pause,
    Script,
    chunk,
    json_answer,
    stream,
    stream_head,
)


def in_lock_step(count: int) -> tuple[Script, list[Gate]]:
    """Return a stream in which each event waits for its own gate."""
    gates = [Gate() for _ in range(count)]
    steps = [step for n, gate in enumerate(gates) for step in (gate, chunk(token(f"{n}")))]
    return (stream_head(), *steps, chunk(DONE), END), gates


async def lock_step_s(port: int, gates: list[Gate]) -> float:
    """Open each gate once the event before has arrived; returns how long it all took."""
    loop = asyncio.get_running_loop()
    async with connected(port) as client:
        client.ask("POST", CHAT, body=chat(stream=True))
        began_s = loop.time()
        for n, gate in enumerate(gates, start=1):
            gate.open()
            answer = await client.until(lambda a, n=n: len(a.events) >= n)  # type: ignore[misc]
        await client.over()
        assert answer.events[-1].data == b"[DONE]"
        return loop.time() - began_s


async def test_c004_each_event_arrives_before_the_next_is_written() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        backend.reply, gates = in_lock_step(60)
        direct_s = await lock_step_s(backend.port, gates)
        backend.reply, gates = in_lock_step(60)
        # Small writes held back for an acknowledgement would cost 40 ms each.
        assert await lock_step_s(proxy.service_port, gates) < direct_s + 1.2


async def test_c004_events_are_not_glued_while_the_client_reads() -> None:
    events = tokens(20)
    paced = [step for event in events for step in (chunk(event), Pause(0.03))]
    script = (stream_head(), *paced, chunk(DONE), END)
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(events) + DONE
        glued = [piece.data.count(b"data: ") for piece in answer.pieces]
        assert sum(count > 2 for count in glued) <= 1, glued


async def test_c004_the_first_event_does_not_wait_for_a_second() -> None:
    gate = Gate()
    script = (stream_head(), chunk(token("x")), gate, chunk(DONE), END)
    async with (
        scripted(script) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(len(token("x")))
        gate.open()
        await client.over()


async def test_c004_many_events_in_one_write_lose_nothing_to_a_slow_reader() -> None:
    events = [token(f"{n} " + "x" * 500) for n in range(4000)]
    script = (stream_head(), *map(chunk, events), chunk(DONE), END)
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            await client.until(lambda a: a.head)
            client.stop_reading()
            await asyncio.sleep(0.2)
            client.read_on()
            answer = await client.over()
        assert answer.whole
        assert answer.body == b"".join(events) + DONE


async def test_c004_a_client_that_does_not_read_holds_the_backend_back() -> None:
    big = chunk(token("x" * 100_000))
    async with (
        scripted((stream_head(), *[big] * 800, chunk(DONE), END)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            await client.until(lambda a: a.pieces)
            client.stop_reading()
            await asyncio.sleep(0.5)
            # What the kernel takes is some megabytes; the rest of 80 MB has to wait outside.
            assert len(backend.requests[0].writes) < 500
            client.read_on()
            answer = await client.over(within_s=20)
        assert answer.whole
        assert len(answer.events) == 801


async def test_c004_a_client_that_never_reads_is_let_go() -> None:
    big = chunk(token("x" * 100_000))
    async with (
        scripted((stream_head(), *[big] * 800, chunk(DONE), END)) as backend,
        running_proxy(backend.url, timeouts__client_write_s=0.5) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.until(lambda a: a.pieces)
        client.stop_reading()
        async with asyncio.timeout(5):
            await backend.requests[0].gone.wait()
        await proxy.idle()
        assert await proxy.failures() == 0


OFFERS_GZIP = [("Accept-Encoding", "gzip, br")]


def directives(values: list[bytes]) -> set[str]:
    """Return the directives of all Cache-Control lines together."""
    return {word.strip().lower() for value in values for word in value.decode().split(",")}


async def test_c005_intermediaries_are_told_to_leave_a_stream_alone() -> None:
    async with (
        scripted(stream(token("x"), DONE)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True), headers=OFFERS_GZIP)
        assert answer.head is not None
        assert (answer.header("content-type") or "").startswith(SSE)
        assert {"no-cache", "no-transform"} <= directives(answer.head.all("cache-control"))
        assert answer.header("x-accel-buffering") == "no"
        assert answer.header("content-length") is None
        assert answer.header("content-encoding") is None
        assert answer.body == token("x") + DONE


@pytest.mark.parametrize(
    "sent",
    [
        [("Cache-Control", "no-cache, no-transform"), ("X-Accel-Buffering", "no")],
        [("cache-control", "no-cache"), ("x-accel-buffering", "no")],
        [("CACHE-CONTROL", "no-store"), ("X-ACCEL-BUFFERING", "no"), ("Vary", "origin")],
    ],
    ids=["as ours", "lower case", "upper case and another directive"],
)
async def test_c005_headers_that_the_backend_sent_are_not_doubled(
    sent: list[tuple[str, str]],
) -> None:
    async with (
        scripted(stream(token("x"), DONE, headers=sent)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True), headers=OFFERS_GZIP)
        assert answer.head is not None
        named = [name.lower() for name, _ in answer.head.headers]
        assert len(named) == len(set(named)), named
        assert answer.header("x-accel-buffering") == "no"
        assert answer.header("cache-control")


async def test_c005_a_plain_answer_is_not_dressed_as_a_stream() -> None:
    def reply(_: Received) -> Script:
        return json_answer(completion())

    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(), headers=OFFERS_GZIP)
        assert answer.header("content-type") == "application/json"
        assert answer.header("content-length") == str(len(answer.body))
        assert answer.json() == completion()
