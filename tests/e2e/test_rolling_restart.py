"""Three Instances are restarted one after the other under load, as a script does it."""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cacheroute.runtime.proxy_process import a_proxy_process
from tests.cli.supervisor.children import an_environment
from tests.support.client import fetch, post
from tests.support.demo import demo_instance
from tests.support.openai_shapes import DONE, chat
from tests.support.waiting import eventually_is

IDS = ("i-1", "i-2", "i-3")
CALLERS = 6
AT_EACH_STEP = 10
"""Answers that must come before the script goes on, so that each step has load on it."""


@dataclass(slots=True, eq=False)
class Load:
    """Callers that ask one thing after the other, half of them for streams."""

    port: int
    served: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    shunned: set[str] = field(default_factory=set)
    """Who must get nothing that is asked from now on."""
    over: bool = False

    async def call(self, number: int) -> None:
        while not self.over:
            stream, shunned = number % 2 == 0, frozenset(self.shunned)
            body = chat("Tell me of pumps.", stream=stream, model="demo", max_tokens=24)
            answer = await post(self.port, body)
            instance_id = answer.header("x-cacheroute-instance") or "nobody"
            whole = answer.body.endswith(DONE) if stream else "choices" in answer.json()
            if answer.status != 200 or answer.cut or not whole:
                self.lost.append(f"{answer.status} by {instance_id}: {answer.body[-200:]!r}")
            if instance_id in shunned:
                self.lost.append(f"{instance_id} was asked although it was drained")
            self.served[instance_id] += 1

    async def goes_on(self) -> None:
        """Wait until some more have been answered, whatever is lost."""
        before = self.served.total()

        async def answered() -> int:
            return self.served.total() - before

        await eventually_is(answered, lambda count: count >= AT_EACH_STEP, within_s=20)


@contextlib.asynccontextmanager
async def under_load(port: int) -> AsyncIterator[Load]:
    load = Load(port)
    async with asyncio.TaskGroup() as group:
        for number in range(CALLERS):
            group.create_task(load.call(number))
        try:
            yield load
        finally:
            load.over = True


async def cacheroute(*arguments: str, state: Path) -> Any:
    """Run a command, which must succeed; its document."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "cacheroute_cli", *arguments, "-o", "json",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env=an_environment(CACHEROUTE_STATE_DIR=str(state)),
    )  # fmt: skip
    async with asyncio.timeout(20):
        out, err = await process.communicate()
    assert process.returncode == 0, err
    return json.loads(out)


async def test_a_rolling_restart_under_load_loses_no_request(tmp_path: Path) -> None:
    running: dict[str, AbstractContextManager[str]] = {}
    ports: dict[str, str] = {}

    async def start(instance_id: str) -> None:
        instance = demo_instance(
            "--instance-id", instance_id, "--proxy-cp-url", url,
            "--port", ports.get(instance_id, "0"), speed=20,
        )  # fmt: skip
        ports[instance_id] = (await asyncio.to_thread(instance.__enter__)).rpartition(":")[2]
        running[instance_id] = instance

    async def stop(instance_id: str) -> None:
        await asyncio.to_thread(running.pop(instance_id).__exit__, None, None, None)

    async with a_proxy_process(tmp_path / "state", strategy__name="least_load") as proxy:
        url = f"http://127.0.0.1:{proxy.control_port}"

        async def rows() -> dict[str, Any]:
            answer = await fetch(proxy.control_port, "GET", "/v1/instance/list?raw=false")
            return {row["instance_id"]: row for row in answer.json()}

        try:
            await asyncio.gather(*map(start, IDS))
            await eventually_is(rows, lambda now: len(now) == 3, within_s=20)
            async with under_load(proxy.service_port) as load:
                for instance_id in IDS:
                    await load.goes_on()
                    drained = await cacheroute(
                        "drain", instance_id, "--wait", "-y", "--timeout", "15",
                        "--reason", "rolling restart", "--proxy-url", url, state=tmp_path,
                    )  # fmt: skip
                    assert drained["items"][0]["inflight"] == 0
                    assert drained["left_count"] == 2
                    load.shunned.add(instance_id)
                    await stop(instance_id)
                    await load.goes_on()
                    await start(instance_id)
                    await eventually_is(rows, lambda now: len(now) == 3, within_s=20)
                    assert (await rows())[instance_id]["drain_reason"] == "rolling restart"
                    await load.goes_on()
                    load.shunned.clear()
                    undrained = await cacheroute(
                        "undrain", instance_id, "--proxy-url", url, state=tmp_path
                    )
                    assert undrained["left_count"] == 3
                    before = load.served[instance_id]
                    while load.served[instance_id] == before:
                        await load.goes_on()
            assert load.lost == []
            assert set(load.served) == set(IDS)
            loads = (await fetch(proxy.control_port, "GET", "/debug/instance_loads")).json()
            assert [row["inflight"] for row in loads["instances"]] == [0, 0, 0]
        finally:
            for instance_id in list(running):
                await stop(instance_id)
    [audit] = (tmp_path / "state").glob("*/audit.jsonl")
    told = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [(line["verb"], line["instance_id"]) for line in told] == [
        (verb, instance_id) for instance_id in IDS for verb in ("drain", "undrain")
    ]
