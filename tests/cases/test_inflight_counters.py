"""C025, C026: every slot comes back, however a request ended, before its caller knows."""

import asyncio
import random

import pytest

from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, token, tokens
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.received import Received
from tests.support.script import (
    END,
    Close,
    Freeze,
    Gate,
    Pause,
    Reset,
    Script,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

FAULTS: list[Script] = [
    (Close(),),
    (Reset(),),
    (stream_head(), chunk(token("a")), Close()),
    (stream_head(), chunk(token("a")), Pause(0.01), Reset()),
    json_answer({"error": {"message": "boom"}}, 500),
    (Freeze(),),
    stream(*tokens(3), DONE),
    json_answer(completion()),
]


@pytest.mark.parametrize("strategy", ["round_robin", "least_load"])
async def test_c025_two_hundred_mixed_fates_leave_nothing_behind(strategy: str) -> None:
    chance = random.Random(25)

    def fate(_: Received) -> Script:
        return chance.choice(FAULTS)

    async with (
        scripted(fate) as a,
        scripted(fate) as b,
        running_proxy(
            a.url, b.url, strategy=strategy,
            timeouts__first_byte_s=0.3, pool__ejection__failures=10_000,
        ) as proxy,
    ):  # fmt: skip
        at_once = asyncio.Semaphore(25)

        async def one(stream: bool) -> None:
            async with at_once:
                await post(proxy.service_port, chat(stream=stream))

        await asyncio.gather(*(one(n % 2 == 0) for n in range(200)))
        await proxy.idle()
        for row in await proxy.loads():
            counts = {key: row[key] for key in row if key.endswith("_count") or "active" in key}
            assert not any(counts.values()), counts

        gate = Gate()
        a.reply = b.reply = (gate, *json_answer(completion()))
        seen = len(a.requests), len(b.requests)
        async with asyncio.TaskGroup() as group:
            for _ in range(20):
                group.create_task(post(proxy.service_port, chat()))
            await eventually(lambda: len(a.requests) + len(b.requests) == sum(seen) + 20)
            gate.open()
        assert (len(a.requests) - seen[0], len(b.requests) - seen[1]) == (10, 10)
        await proxy.idle()


ENDS: dict[str, Script] = {
    "JSON": json_answer(completion()),
    "a stream": stream(*tokens(2), DONE),
    "a stream that is cut": (stream_head(), chunk(token("a")), Close()),
    "an error of the caller": json_answer({"error": {"message": "no"}}, 400),
    "a failure": json_answer({"error": {"message": "boom"}}, 500),
}


@pytest.mark.parametrize("script", ENDS.values(), ids=ENDS)
async def test_c026_the_slot_is_free_before_the_caller_sees_the_end(script: Script) -> None:
    async with (
        scripted(script) as backend,
        running_proxy(backend.url, pool__ejection__failures=1000) as proxy,
    ):
        body = chat(stream=b"text/event-stream" in repr(script).encode())
        async with connected(proxy.control_port) as watching:
            for _ in range(10):
                async with connected(proxy.service_port) as client:
                    client.ask("POST", CHAT, body=body)
                    await client.over()
                    watching.ask("GET", "/debug/instance_loads")
                    seen = (await watching.over()).json()
                assert [row["inflight"] for row in seen["instances"]] == [0]


async def test_c026_cancelled_streams_timeouts_and_failures_block_nobody_later() -> None:
    async with (
        scripted() as backend,
        running_proxy(
            backend.url, timeouts__first_byte_s=0.2, pool__ejection__failures=2, **LONG_REST
        ) as proxy,
    ):
        backend.reply = (stream_head(), *map(chunk, tokens(3)), Freeze())
        for _ in range(10):
            async with connected(proxy.service_port) as client:
                client.ask("POST", CHAT, body=chat(stream=True))
                await client.until(lambda a: len(a.events) == 3)
                client.reset()
        backend.reply = (Freeze(),)
        late = await asyncio.gather(*(post(proxy.service_port, chat()) for _ in range(10)))
        assert {answer.status for answer in late} == {504}
        backend.reply = json_answer({"error": {"message": "bad gateway"}}, 502)
        for _ in range(10):
            assert (await post(proxy.service_port, chat())).status == 502
        backend.reply = (stream_head(), chunk(DONE), END)
        assert (await post(proxy.service_port, chat(stream=True))).status == 200
        await proxy.idle()


async def test_c026_with_a_cap_of_one_the_next_call_finds_the_slot_free() -> None:
    async with scripted() as backend:
        cap = [{"name": "one", "url": backend.url, "max_concurrent": 1}]
        async with running_proxy(
            backends=cap, timeouts__first_byte_s=0.1, pool__ejection__failures=10_000
        ) as proxy:
            for _ in range(10):
                backend.reply = (stream_head(), *map(chunk, tokens(3)), Freeze())
                async with connected(proxy.service_port) as client:
                    client.ask("POST", CHAT, body=chat(stream=True))
                    await client.until(lambda a: len(a.events) == 3)
                    client.reset()
                await proxy.idle()
                backend.reply = (Freeze(),)
                assert (await post(proxy.service_port, chat())).status == 504
                backend.reply = json_answer({"error": {"message": "bad gateway"}}, 502)
                assert (await post(proxy.service_port, chat())).status == 502
                backend.reply = json_answer(completion())
                # Sent the moment the answer before has ended, on connections of their own.
                for _ in range(5):
                    assert (await post(proxy.service_port, chat())).status == 200
            assert await proxy.inflight() == {"one": 0}


# Limits per key, and their display, join with budgets and gates.
