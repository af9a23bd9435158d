"""C067, C068: liveness follows when we heard an Instance, on a clock that never jumps."""

import asyncio
import time
from contextlib import AsyncExitStack

import pytest

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import chat
from tests.support.proxy import LONG_REST, RunningProxy, running_proxy
from tests.support.script import json_answer
from tests.support.waiting import eventually_is

NOW_S = time.time()


async def assert_alive(proxy: RunningProxy, count: int) -> None:
    """All Instances are alive, none seen in the future or long ago, and one answers."""
    rows = await proxy.instances()
    assert [row["is_alive"] for row in rows] == [True] * count
    assert (await post(proxy.service_port, chat())).status == 200


@pytest.mark.parametrize("jump_s", [3600, -7200], ids=["an hour ahead", "two hours back"])
async def test_c067_a_wall_clock_that_jumps_expires_nobody(
    jump_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall_s = time.time
    async with scripted() as a, scripted() as b, running_proxy(pool__ttl_s=5) as proxy:
        for backend in (a, b):
            await proxy.register(host=backend.host, port=backend.port)
        await assert_alive(proxy, 2)
        monkeypatch.setattr(time, "time", lambda: wall_s() + jump_s)
        await assert_alive(proxy, 2)
        for backend in (a, b):
            beat = {"instance_id": backend.instance_id, "inflight": 0}
            assert (await proxy.control("POST", "/v1/instance/heartbeat", beat))["ok"] is True
        await assert_alive(proxy, 2)


async def test_c067_a_wall_clock_that_jumps_ends_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    wall_s = time.time
    async with (
        scripted(json_answer({"error": {"message": "x"}}, 500)) as bad,
        scripted() as good,
        running_proxy(bad.url, good.url, pool__ejection__failures=1, **LONG_REST) as proxy,
    ):
        for _ in range(2):
            await post(proxy.service_port, chat())
        monkeypatch.setattr(time, "time", lambda: wall_s() + 3600)
        for _ in range(6):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(bad.requests) == 1


STAMPS: dict[str, object] = {
    "ten-minutes-ahead": (NOW_S + 600) * 1000,
    "ten-minutes-ago": (NOW_S - 600) * 1000,
    "in-seconds": NOW_S,
    "as-text": "2026-01-01T00:00:00Z",
    "null": None,
    "negative": -1,
}
STAMPED: dict[str, dict[str, object]] = {"absent": {}} | {
    name: {"timestamp_ms": stamp, "reported_at_ms": stamp} for name, stamp in STAMPS.items()
}


async def test_c068_a_senders_clock_decides_nothing() -> None:
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(running_proxy(pool__ttl_s=1))

        async def alive() -> list[str]:
            return [row["instance_id"] for row in await proxy.instances() if row["is_alive"]]

        for name, stamped in STAMPED.items():
            backend = await stack.enter_async_context(scripted())
            await proxy.register(instance_id=name, host=backend.host, port=backend.port)
            body = {
                "instance_id": name,
                "snapshot": {"cpu": {"usage_percent": 5.0}, **stamped},
                "metadata": stamped,
            }
            said = await proxy.control("POST", "/v1/instance/resource_snapshot", body)
            assert said == {"ok": True}
            await proxy.control("POST", "/v1/instance/heartbeat", {"instance_id": name, **stamped})
            assert name in await alive()
            assert (await post(proxy.service_port, chat())).status == 200

        rows = await proxy.instances()
        assert len(rows) == len(STAMPED)
        assert all(abs(row["last_seen_at"] - time.time()) < 30 for row in rows)
        await eventually_is(alive, lambda names: names == [])
        assert (await post(proxy.service_port, chat())).status == 503


async def test_c068_a_stopped_instance_expires_while_the_others_stay() -> None:
    async with scripted() as stopped, scripted() as beating, running_proxy(pool__ttl_s=1) as proxy:
        for backend in (stopped, beating):
            await proxy.register(host=backend.host, port=backend.port)
        loop = asyncio.get_running_loop()
        until_s = loop.time() + 1.6
        while loop.time() < until_s:
            beat = {"instance_id": beating.instance_id}
            await proxy.control("POST", "/v1/instance/heartbeat", beat)
            await asyncio.sleep(0.1)
        alive = {row["instance_id"]: row["is_alive"] for row in await proxy.instances()}
        assert alive == {stopped.instance_id: False, beating.instance_id: True}
        before = len(stopped.requests)
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(stopped.requests) == before
        beat = {"instance_id": stopped.instance_id}
        assert (await proxy.control("POST", "/v1/instance/heartbeat", beat))["ok"] is True
        await assert_alive(proxy, 2)
