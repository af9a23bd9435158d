"""The rules of the queues are told as they were set, and a command shows how full they are."""

import asyncio
import json
import sys
from typing import Any

from cacheroute.wire.console import ConsoleSnapshot
from cacheroute.wire.console_reading import read_snapshot
from tests.support.client import fetch
from tests.support.knowledge import Piece, Stage, injecting_at, stage
from tests.support.script import Gate

PUMP = Piece("The pump P-7 never runs dry.")
RULES: dict[str, Any] = {
    "queues__prepare_concurrency": 2,
    "queues__ready_concurrency": 5,
    "queues__max_queue": 1,
    "queues__release_policy": "text_bypass",
    "injection__strategy": "iws",
}


async def command(on: Stage, *arguments: str) -> str:
    """Run a command of the console in a process of its own, and return what it prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cacheroute_cli", *arguments, "--proxy-url", on.proxy.control_url,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(30):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def told(on: Stage) -> ConsoleSnapshot:
    answer = await fetch(on.proxy.control_port, "GET", "/v1/console/snapshot")
    found = read_snapshot(answer.body)
    assert isinstance(found, ConsoleSnapshot)
    return found


async def test_the_limits_and_what_is_taken_of_them_are_told_everywhere_alike() -> None:
    async with stage(PUMP, **RULES) as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        async with on.clients(*[on.request([PUMP.kid], mode="kvcache")] * 3):
            await on.shows(inflight=3, active_prepare=2, prepare_queue_depth=1)
            loads = await on.proxy.control("GET", "/debug/instance_loads")
            document = await told(on)
            rows = json.loads(await command(on, "queues", "-o", "json"))["items"]
            status = json.loads(await command(on, "status", "-o", "json"))["status"]
            lines = await command(on, "status")
            gate.open()
        await on.nothing_left()
        after = (await on.pressure())["kv_links_busy"]

    rules = {
        "prepare_concurrency": 2, "ready_concurrency": 5, "max_queue": 1, "wait_at_cap": False,
        "release_policy": "text_bypass", "text_bypass_max_per_flush": 1,
    }  # fmt: skip
    assert loads["queue_rules"] == status["queue_rules"] == rules
    assert document.queue_rules is not None
    assert document.queue_rules.max_queue == 1
    assert document.proxy.injection_strategy == status["injection_strategy"] == "iws"
    assert loads["instances"][0]["max_concurrent"] is None
    busy = loads["instances"][0]["kv_links_busy"]
    assert document.instances.kv_links_busy == rows[0]["kv_links_busy"] == busy
    assert after == 0
    assert [rows[0][name] for name in ("queue_limit", "prepare_limit", "ready_limit")] == [1, 2, 5]
    assert status["queueing"]["full"] == [rows[0]["id"]]
    assert "prepare 2/2 +1" in lines
    assert "· iws · text_bypass" in lines
    assert f"queue full at {rows[0]['id']}" in lines


async def test_a_transfer_of_kv_shows_as_a_link_in_use_until_it_is_over() -> None:
    async with stage(PUMP) as on:
        gate = Gate()
        on.player.orders = injecting_at(gate)
        before = await told(on)
        async with on.clients(on.request([PUMP.kid], mode="kvcache")):
            await on.shows(inflight=1, active_prepare=1)
            during = await told(on)
            gate.open()
        await on.nothing_left()
        after = await told(on)

    busy = [look.instances.kv_links_busy for look in (before, during, after)]
    assert busy == [0, 1, 0]
    assert before.rev < during.rev < after.rev
