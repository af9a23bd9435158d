"""C047: load counts from the moment of choosing, so a burst spreads before anyone has answered."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.support.backend import ScriptedBackend, scripted
from tests.support.client import post
from tests.support.openai_shapes import chat, completion
from tests.support.proxy import running_proxy
from tests.support.script import Gate, Script, json_answer
from tests.support.waiting import eventually

PATHS = ["/v1/chat/completions", "/v1/completions", "/v1/embeddings"]


async def fleet(stack: AsyncExitStack, size: int, reply: Script) -> list[ScriptedBackend]:
    """Run some equal backends."""
    return [await stack.enter_async_context(scripted(reply)) for _ in range(size)]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("strategy", ["least_load", "round_robin"])
async def test_c047_a_burst_spreads_while_nobody_has_answered(strategy: str, path: str) -> None:
    gate = Gate()
    async with AsyncExitStack() as stack:
        backends = await fleet(stack, 4, (gate, *json_answer(completion())))
        urls = [backend.url for backend in backends]
        proxy = await stack.enter_async_context(running_proxy(*urls, strategy=strategy))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        for n in range(40):
            group.create_task(post(proxy.service_port, chat(f"{n}", prompt="x"), path))
        await eventually(lambda: sum(len(backend.requests) for backend in backends) == 40)
        assert [len(backend.requests) for backend in backends] == [10] * 4
        assert set((await proxy.inflight()).values()) == {10}
        gate.open()


@pytest.mark.parametrize("strategy", ["least_load", "round_robin"])
async def test_c047_ties_rotate_when_nobody_is_busy(strategy: str) -> None:
    async with AsyncExitStack() as stack:
        backends = await fleet(stack, 4, json_answer(completion()))
        urls = [backend.url for backend in backends]
        proxy = await stack.enter_async_context(running_proxy(*urls, strategy=strategy))
        for _ in range(40):
            assert (await post(proxy.service_port, chat())).status == 200
        assert [len(backend.requests) for backend in backends] == [10] * 4


async def test_c047_a_busy_instance_is_spared_until_the_others_are_as_busy() -> None:
    gate = Gate()
    async with AsyncExitStack() as stack:
        backends = await fleet(stack, 3, (gate, *json_answer(completion())))
        urls = [backend.url for backend in backends]
        proxy = await stack.enter_async_context(running_proxy(*urls, strategy="least_load"))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        for busy in range(1, 10):
            group.create_task(post(proxy.service_port, chat()))
            await eventually(
                lambda busy=busy: sum(len(b.requests) for b in backends) == busy  # type: ignore[misc]
            )
            loads = sorted(len(backend.requests) for backend in backends)
            assert loads[-1] - loads[0] <= 1, loads
        gate.open()


async def test_c047_the_same_holds_after_a_restart() -> None:
    async with AsyncExitStack() as stack:
        backends = await fleet(stack, 4, json_answer(completion()))
        urls = [backend.url for backend in backends]
        async with running_proxy(*urls, strategy="least_load") as proxy:
            await post(proxy.service_port, chat())
        gate = Gate()
        for backend in backends:
            backend.reply = (gate, *json_answer(completion()))
            backend.requests.clear()
        proxy = await stack.enter_async_context(running_proxy(*urls, strategy="least_load"))
        group = await stack.enter_async_context(asyncio.TaskGroup())
        for _ in range(8):
            group.create_task(post(proxy.service_port, chat()))
        await eventually(lambda: sum(len(backend.requests) for backend in backends) == 8)
        assert [len(backend.requests) for backend in backends] == [2] * 4
        gate.open()
