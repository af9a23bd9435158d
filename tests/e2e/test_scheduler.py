"""A Proxy and a Scheduler find each other, whoever starts, restarts or goes first."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from cacheroute.demo.scheduler.options import SchedulerOptions
from cacheroute.demo.scheduler.scheduler import Scheduler
from tests.support.client import fetch
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.waiting import eventually_is


@contextlib.asynccontextmanager
async def a_scheduler(cp_port: int = 0) -> AsyncIterator[Scheduler]:
    scheduler = Scheduler(SchedulerOptions(port=0, cp_port=cp_port, heartbeat_s=0.5, grace_s=0.1))
    await scheduler.open()
    try:
        yield scheduler
    finally:
        await scheduler.close()


async def listed(cp_port: int) -> list[dict[str, Any]]:
    """Return the Proxies that a Scheduler has on its list."""
    rows = (await fetch(cp_port, "GET", "/v1/proxy/list")).json()
    assert isinstance(rows, list)
    return rows


async def word(proxy: RunningProxy) -> str:
    """Return how a Proxy says that it stands with its Scheduler."""
    return str((await proxy.control("GET", "/debug/status"))["scheduler_state"])


async def test_a_restart_of_either_heals_by_itself() -> None:
    async with contextlib.AsyncExitStack() as stack:
        async with a_scheduler() as first:
            cp_port = first.cp_port
            url = f"http://127.0.0.1:{cp_port}"
            proxy = await stack.enter_async_context(running_proxy(scheduler__url=url))
            await eventually_is(lambda: listed(cp_port), bool)
            await proxy.register(instance_id="i-1", host="127.0.0.1", port=9)
            links = {"kdn://127.0.0.1:9101": {"bandwidth_mbps": 500.0, "latency_ms": 0.0}}
            report = {"instance_id": "i-1", "links": links}
            await proxy.control("POST", "/v1/topology/report", report)
            (row,) = await eventually_is(
                lambda: listed(cp_port), lambda rows: rows[0]["meta"].get("kdn_links")
            )
            assert row["port"] == proxy.service_port
            assert row["pool_resource"]["instances"]["alive"] == 1
            assert row["meta"]["kdn_links"]["kdn://127.0.0.1:9101"]["reported_by"] == "i-1"
        assert await eventually_is(lambda: word(proxy), lambda now: now != "registered")
        async with a_scheduler(cp_port):
            (row,) = await eventually_is(lambda: listed(cp_port), bool)
            assert row["meta"]["kdn_links"]["kdn://127.0.0.1:9101"]["bandwidth_mbps"] == 500.0
            await eventually_is(lambda: word(proxy), lambda now: now == "registered")
            page = await proxy.control("GET", "/debug/scheduler")
            assert page["registrations"] == 2
            await stack.aclose()
            assert await listed(cp_port) == []


async def test_a_proxy_serves_before_there_is_a_scheduler_and_finds_it_later() -> None:
    async with a_scheduler() as scheduler:
        cp_port = scheduler.cp_port
    async with running_proxy(scheduler__url=f"http://127.0.0.1:{cp_port}") as proxy:
        assert (await fetch(proxy.service_port, "GET", "/health")).status == 200
        await eventually_is(lambda: word(proxy), lambda now: now == "unreachable")
        async with a_scheduler(cp_port):
            (row,) = await eventually_is(lambda: listed(cp_port), bool)
            assert row["host"] == "127.0.0.1"


async def test_a_scheduler_that_is_gone_does_not_hold_up_the_end() -> None:
    async with a_scheduler() as scheduler:
        proxy = running_proxy(scheduler__url=f"http://127.0.0.1:{scheduler.cp_port}")
        running = await proxy.__aenter__()
        await eventually_is(lambda: word(running), lambda now: now == "registered")
    async with asyncio.timeout(5.0):
        await proxy.__aexit__(None, None, None)
