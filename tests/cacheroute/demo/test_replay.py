"""The replay against a real socket: what it sends, what it times, what it calls a failure."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from cacheroute.demo.replay import Outcome, replay, request_body
from cacheroute.demo.trace import Scale, TraceRequest

SCALE = Scale(block_tokens=16)
Answerer = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


def a_request(at_ms: int = 0, block: int = 1) -> TraceRequest:
    return TraceRequest(arrives_ms=at_ms, input_tokens=512, output_tokens=80, blocks=(block,))


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
ROLE = event({"choices": [{"delta": {"role": "assistant"}}]})
TEXT = event({"choices": [{"delta": {"content": "hi"}}]})
USAGE = event(
    {
        "choices": [],
        "usage": {"prompt_tokens": 16, "prompt_tokens_details": {"cached_tokens": 8}},
    },
)
DONE = b"data: [DONE]\n\n"


@asynccontextmanager
async def a_server(answer: Answerer) -> AsyncIterator[str]:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        body = await reader.readexactly(length)
        await answer(body, writer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def outcomes_of(*parts: bytes, requests: int = 1) -> list[Outcome]:
    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    async with a_server(answer) as url:
        return await replay(
            [a_request(block=n) for n in range(requests)],
            base_url=url,
            model="m",
            compression=1.0,
            scale=SCALE,
        )


async def test_a_whole_answer_is_timed_and_its_usage_read() -> None:
    [outcome] = await outcomes_of(
        HEAD + b"X-CacheRoute-Instance: demo-2\r\n\r\n", ROLE, TEXT, USAGE, DONE
    )

    assert outcome.failure is None
    assert outcome.instance == "demo-2"
    assert outcome.ttft_ms is not None
    assert 0 < outcome.ttft_ms <= outcome.end_to_end_ms
    assert (outcome.prompt_tokens, outcome.cached_tokens) == (16, 8)


async def test_events_may_be_cut_anywhere_and_end_in_carriage_returns() -> None:
    stream = (ROLE + TEXT + USAGE + DONE).replace(b"\n", b"\r\n")

    [outcome] = await outcomes_of(
        HEAD + b"\r\n", *(stream[at : at + 7] for at in range(0, len(stream), 7))
    )

    assert outcome.failure is None
    assert outcome.cached_tokens == 8


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ((HEAD + b"\r\n", ROLE, TEXT), r"ended without \[DONE\]"),
        ((HEAD + b"\r\n", ROLE, DONE), "held no text"),
        ((HEAD + b"\r\n", TEXT, event({"error": {"message": "it died"}}), DONE), "it died"),
        ((HEAD + b"\r\n", b"data: {nonsense\n\n"), "could not be read"),
        (
            (b"HTTP/1.1 503 No\r\nContent-Length: 11\r\n\r\nno_instance",),
            "HTTP 503: no_instance",
        ),
        ((HEAD + b"Content-Length: 999\r\n\r\n", TEXT), "RemoteProtocolError"),
    ],
)
async def test_what_a_user_would_call_a_failure_is_one(parts: tuple[bytes, ...], why: str) -> None:
    [outcome] = await outcomes_of(*parts)

    assert re.search(why, outcome.failure or "")


async def test_nobody_listening_is_a_failure_of_each_request_and_not_of_the_replay() -> None:
    async with a_server(lambda *_: asyncio.sleep(0)) as url:
        pass

    outcomes = await replay(
        [a_request(), a_request()], base_url=url, model="m", compression=1.0, scale=SCALE
    )

    assert [outcome.index for outcome in outcomes] == [0, 1]
    assert all("ConnectError" in (outcome.failure or "") for outcome in outcomes)


async def test_a_later_request_does_not_wait_for_an_earlier_answer() -> None:
    both_here = asyncio.Barrier(2)

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        await both_here.wait()
        writer.write(HEAD + b"\r\n" + TEXT + DONE)

    async with a_server(answer) as url:
        outcomes = await replay(
            [a_request(0), a_request(20)], base_url=url, model="m", compression=1.0, scale=SCALE
        )

    assert [outcome.failure for outcome in outcomes] == [None, None]


async def test_no_more_than_the_bound_are_under_way_at_once() -> None:
    now = most = 0

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        writer.write(HEAD + b"\r\n" + TEXT + DONE)

    seen: list[int] = []
    async with a_server(answer) as url:
        await replay(
            [a_request(block=n) for n in range(12)],
            base_url=url,
            model="m",
            compression=1.0,
            scale=SCALE,
            concurrency=3,
            on_done=lambda outcome: seen.append(outcome.index),
        )

    assert most <= 3
    assert sorted(seen) == list(range(12))


async def test_an_empty_trace_has_no_outcomes() -> None:
    assert (
        await replay([], base_url="http://127.0.0.1:1", model="m", compression=1, scale=SCALE) == []
    )


def test_a_request_asks_for_a_stream_with_usage_and_the_scaled_length() -> None:
    body = json.loads(request_body(a_request(), model="m-7b", scale=SCALE))

    assert body["model"] == "m-7b"
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["max_tokens"] == 10
    assert len(body["messages"][0]["content"]) == 16 * 4
