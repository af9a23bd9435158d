"""The strategy is changed again and again under load: nothing is lost, every counter is right."""

import asyncio
import contextlib
from typing import Any

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import DONE, chat, completion, token
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.received import Received
from tests.support.script import Pause, Script, json_answer, stream
from tests.support.waiting import eventually_is

CALLERS, EACH, SWAPS = 8, 30, 40


def answering(received: Received) -> Script:
    if received.json()["stream"]:
        return (Pause(0.001), *stream(token("a"), token("b"), DONE))
    return (Pause(0.001), *json_answer(completion()))


async def calls(proxy: RunningProxy, number: int) -> list[int]:
    answers = []
    for at in range(EACH):
        streamed = (number + at) % 2 == 0
        answer = await post(proxy.service_port, chat(stream=streamed))
        assert not answer.cut
        assert not streamed or answer.body.endswith(DONE)
        answers.append(answer.status)
    return answers


async def swaps(proxy: RunningProxy, done: asyncio.Event) -> list[Any]:
    told = []
    for number in range(SWAPS):
        name = ("least_load", "round_robin")[number % 2]
        told.append(await proxy.control("POST", "/v1/admin/strategy", {"name": name}))
        if done.is_set():
            break
        await asyncio.sleep(0.005)
    return told


async def test_a_strategy_that_changes_under_load_loses_nothing() -> None:
    async with contextlib.AsyncExitStack() as stack:
        backends = [await stack.enter_async_context(scripted(answering)) for _ in range(3)]
        proxy = await stack.enter_async_context(running_proxy())
        for number, backend in enumerate(backends, start=1):
            await proxy.register(
                host=backend.host, port=backend.port, instance_id=f"i-{number}", weight=number
            )
        done = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            swapping = group.create_task(swaps(proxy, done))
            callers = [group.create_task(calls(proxy, number)) for number in range(CALLERS)]
            await asyncio.wait(callers)
            done.set()
        assert {status for caller in callers for status in caller.result()} == {200}
        told = swapping.result()
        assert len(told) > 3
        assert all(each["changed"] and each["left"] == 3 for each in told)
        await proxy.idle()
        assert await proxy.unhappy_ends() == {}
        assert sum((await proxy.samples("requests", "backend")).values()) == CALLERS * EACH
        await weighs_what_runs(proxy)


async def weighs_what_runs(proxy: RunningProxy) -> None:
    """After all of that, least_load still sees what runs where."""
    await proxy.control("POST", "/v1/admin/strategy", {"name": "least_load"})
    core = proxy.app.proxy
    busy = core.pool.lease(core.pool.members["i-3"])
    for _ in range(9):
        core.pool.lease(core.pool.members["i-2"])
    core.strategy.on_change(core.pool.members["i-2"])
    answers = [await post(proxy.service_port, chat()) for _ in range(4)]
    chosen = {answer.header("x-cacheroute-instance") for answer in answers}
    assert "i-2" not in chosen
    busy.release()
    await eventually_is(proxy.inflight, lambda now: now["i-3"] == 0)
