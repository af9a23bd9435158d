"""Requests of every fate, at random: afterwards nothing is counted, open or grown.

Both sides misbehave: clients reset, close, half-close or never read; Instances refuse,
die before, within and after a head, freeze, and answer nonsense.
"""

import asyncio
import gc
import logging
import os
import random
from collections.abc import Iterator

import psutil
import pytest

from tests.support.backend import ScriptedBackend, scripted
from tests.support.client import RawClient, connected
from tests.support.openai_shapes import (
    CHAT,
    COMPLETIONS,
    DONE,
    chat,
    completion,
    sse,
    token,
    tokens,
)
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.received import Received
from tests.support.script import (
    END,
    JSON,
    Close,
    Freeze,
    Pause,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually

MIB = 1024 * 1024
AT_ONCE = 24

FATES: list[Script] = [
    json_answer(completion()),
    json_answer(completion("x" * 200_000)),
    stream(*tokens(10), DONE),
    (stream_head(), *(step for event in tokens(8) for step in (chunk(event), Pause(0.004))), END),
    (Pause(0.02), *json_answer(completion())),
    (Close(),),
    (Reset(),),
    (Write(b"HTTP/1.1 200 OK\r\nContent-"), Close()),
    (Write(b"nonsense\r\n\r\n"),),
    (stream_head(), Close()),
    (stream_head(), chunk(token("a")), Reset()),
    (stream_head(), chunk(token("a")), Write(b"zz\r\n"), Freeze()),
    (stream_head(), chunk(token("a")), Freeze()),
    (stream_head(), chunk(sse({"error": {"message": "full"}})), chunk(DONE), END),
    (Write(head(200, [("Content-Type", JSON), ("Content-Length", "500")]) + b"{"), Close()),
    (Freeze(),),
    json_answer({"error": {"message": "boom"}}, 500),
    answer(b"slow down", 429, "text/plain", [("Retry-After", "0")]),
    answer(b'{"error": {"message": "too long"}}', 400),
]


async def leave_at_once(client: RawClient) -> None:
    """Reset without waiting for anything."""
    client.reset()


async def leave_while_waiting(client: RawClient) -> None:
    """Close a little later, most likely before the first byte."""
    await asyncio.sleep(0.003)
    client.close()


async def leave_in_the_middle(client: RawClient) -> None:
    """Reset as soon as something of the body is there."""
    await eventually(lambda: client.answer.pieces or client.answer.whole or client.answer.ended)
    client.reset()


async def half_close_and_wait(client: RawClient) -> None:
    """Stop sending, and take the answer."""
    client.half_close()
    await client.over()


async def read_late(client: RawClient) -> None:
    """Leave the answer in the kernel for a while."""
    client.stop_reading()
    await asyncio.sleep(0.02)
    client.read_on()
    await client.over()


async def take_the_answer(client: RawClient) -> None:
    """Behave."""
    await client.over()


MANNERS = [
    take_the_answer,
    take_the_answer,
    take_the_answer,
    leave_at_once,
    leave_while_waiting,
    leave_in_the_middle,
    half_close_and_wait,
    read_late,
]


def open_descriptors() -> int:
    """Count this process's descriptors."""
    return len(os.listdir("/proc/self/fd"))


def resident_bytes() -> int:
    """Return this process's memory, once garbage is gone."""
    gc.collect()
    return int(psutil.Process().memory_info().rss)


async def storm(
    proxy: RunningProxy, backends: list[ScriptedBackend], count: int, chance: random.Random
) -> None:
    """Send `count` requests, some at once; each ends, one way or the other."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(manners: int, streamed: bool, path: str) -> None:
        async with slots, connected(proxy.service_port) as client:
            client.ask("POST", path, body=chat("x", stream=streamed, prompt="x"))
            await MANNERS[manners](client)
            for backend in backends:
                backend.requests.clear()
                backend.probes.clear()

    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            path = chance.choice([CHAT, CHAT, COMPLETIONS, "/v1/embeddings"])
            group.create_task(one(chance.randrange(len(MANNERS)), chance.random() < 0.5, path))


async def nothing_is_left_after(count: int, seed: int) -> None:
    """Run a storm, and look at counters, descriptors and memory before and after."""
    chance = random.Random(seed)
    met = [0] * len(FATES)

    def fate(_: Received) -> Script:
        number = chance.randrange(len(FATES))
        met[number] += 1
        return FATES[number]

    async with (
        scripted(fate) as a,
        scripted(fate) as b,
        scripted(fate) as c,
        running_proxy(
            a.url, b.url, c.url,
            strategy="least_load",
            timeouts__first_byte_s=0.3,
            timeouts__between_bytes_s=0.3,
            timeouts__pool_idle_s=0.5,
            pool__ejection__cool_down_s=0.05,
            pool__ejection__cool_down_max_s=0.1,
        ) as proxy,
    ):  # fmt: skip
        backends = [a, b, c]
        await storm(proxy, backends, 24, chance)
        await all_is_quiet(proxy, backends)
        before = open_descriptors()

        memory: list[int] = []
        for _ in range(4):
            await storm(proxy, backends, count // 4, chance)
            await all_is_quiet(proxy, backends)
            memory.append(resident_bytes())

        assert all(met), met
        ends = await proxy.unhappy_ends()
        assert {"client_gone", "upstream_lost"} <= ends.keys(), ends
        # What the last look at the control plane left behind takes a moment to close.
        await eventually(lambda: open_descriptors() <= before)
        assert memory[3] - memory[2] <= max(2 * MIB, memory[2] // 100), memory


async def all_is_quiet(proxy: RunningProxy, backends: list[ScriptedBackend]) -> None:
    """Every counter ends at exactly 0, and the connections upstream run out."""
    await proxy.idle(within_s=5)
    for backend in backends:
        await backend.closed_down_to(0)
        assert backend.running == 0


async def test_three_hundred_requests_of_every_fate_leave_nothing_behind() -> None:
    await nothing_is_left_after(300, seed=1)


@pytest.fixture
def unrecorded() -> Iterator[None]:
    """Keep pytest from keeping a record of every lost upstream, which looks like a leak of ours."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.soak
@pytest.mark.usefixtures("unrecorded")
async def test_ten_thousand_requests_of_every_fate_leave_nothing_behind() -> None:
    await nothing_is_left_after(10_000, seed=2)
