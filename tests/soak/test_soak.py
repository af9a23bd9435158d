"""What outside input can grow has a bound: crowds of strangers leave a Proxy as it was."""

import asyncio
import gc
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cacheroute.wire import paths
from tests.bench import processes
from tests.bench.growth import FLAT_MB, FLAT_RATIO
from tests.soak.control_calls import Strangers, crowd
from tests.soak.fleet import RULES, Fleet
from tests.soak.proxy_process import Holdings, ProxyProcess, proxy_process
from tests.support.client import fetch
from tests.support.proxy import running_proxy
from tests.support.waiting import eventually, eventually_is

AT_ONCE = 8
MAX_INSTANCES = 256
QUARTERS = 4
LINE_BYTES = 200
STATE_BYTES = 16 * 1024 * 1024
"""Room for two request logs of a megabyte and what is added at once, and for the registry."""
SERVERS = 6


async def page_bytes(proxy: ProxyProcess, path: str) -> int:
    """Return the size of a page of the control plane."""
    answer = await fetch(proxy.control_port, "GET", path)
    assert answer.status == 200
    return len(answer.body)


def is_flat(values: Sequence[float], room: float) -> bool:
    """Tell whether the last quarter added no more than `room`, or one percent."""
    return values[-1] - values[-2] <= max(room, values[-1] * FLAT_RATIO)


def nothing_grew(held: Sequence[Holdings]) -> None:
    """Check what was held after each quarter."""
    assert is_flat([one.memory_mb for one in held], FLAT_MB), held
    assert held[-1].descriptors <= held[0].descriptors + AT_ONCE, held
    assert max(one.state_bytes for one in held) < STATE_BYTES, held


# Strangers


async def a_crowd_leaves_it_as_it_was(folder: Path, calls: int) -> None:
    """Let strangers call; after each quarter, look at everything that could have grown."""
    strangers = Strangers(seed=calls)
    held: list[Holdings] = []
    pages: list[int] = []
    settings = (
        f"pool.max_instances={MAX_INSTANCES}",
        f"pool.max_unknown_ids={MAX_INSTANCES}",
        "pool.ttl_s=0.5",  # so that they also fall silent, die and make room
        "pool.reap_after_s=2",
    )
    with proxy_process(folder, *settings) as proxy:
        for _ in range(QUARTERS):
            await crowd(proxy.control_port, strangers, calls // QUARTERS, AT_ONCE)
            held.append(proxy.holdings())
            pages.append(await page_bytes(proxy, paths.METRICS))
            rows = (await fetch(proxy.control_port, "GET", paths.INSTANCE_LIST)).json()
            assert len(rows) <= MAX_INSTANCES
        nothing_grew(held)
        assert max(pages) < MAX_INSTANCES * 10_000, pages
        assert held[-1].log_bytes <= calls * LINE_BYTES, held  # a line for each, at most


async def test_fifty_thousand_strangers_leave_the_control_plane_as_it_was(tmp_path: Path) -> None:
    await a_crowd_leaves_it_as_it_was(tmp_path, 50_000)


@pytest.mark.soak
async def test_a_million_strangers_leave_the_control_plane_as_it_was(tmp_path: Path) -> None:
    await a_crowd_leaves_it_as_it_was(tmp_path, 1_000_000)


# Objects


def our_objects() -> Counter[str]:
    """Count the objects of the Proxy that are alive in this process, by type."""
    gc.collect()
    names = (f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.get_objects())
    return Counter(name for name in names if name.startswith("cacheroute."))


async def test_instances_that_came_and_went_leave_no_object_behind() -> None:
    async with running_proxy(log_level="error", pool__health_timeout_s=1) as proxy:

        async def come_and_go(octet: int, count: int = 100) -> Counter[str]:
            for number in range(1, count + 1):
                await proxy.register(
                    instance_id=f"i-{octet}-{number}", host=f"127.0.{octet}.{number}", port=9
                )
            for number in range(1, count + 1):
                body = {"instance_id": f"i-{octet}-{number}"}
                await proxy.control("POST", paths.INSTANCE_UNREGISTER, body)
            assert await proxy.instances() == []
            await asyncio.sleep(0.3)  # probes that were under way find nobody and end
            return our_objects()

        before = await come_and_go(1)
        after = await come_and_go(2)
        # The last decisions, log lines and the like may differ by a few, a leak by a hundred.
        grown = {name: count for name, count in (after - before).items() if count > 10}
        assert grown == {}, grown


# Comings and goings under load


async def a_fleet_under_load_leaves_it_as_it_was(folder: Path, quarter_s: float) -> None:
    """Serve JSON and streams while Instances live and die; no request may fail of it."""
    held: list[Holdings] = []
    with (
        (folder / "bench.log").open("wb") as log,
        processes.backends(SERVERS + 2, None, log) as ports,
        processes.load(None, log) as load,
        proxy_process(
            folder, *RULES, "strategy.name=least_load",
            "proxy.request_log_bytes=1000000", "proxy.request_log_keep=1",
            "pool.instances=" + ",".join(f"http://127.0.0.1:{port}" for port in ports[:2]),
        ) as proxy,
    ):  # fmt: skip
        order: dict[str, Any] = {
            "port": proxy.service_port, "connections": 16, "size": "2k", "warm_s": 0.1,
            "window_s": quarter_s / 2, "pids": [],
        }  # fmt: skip
        stop = asyncio.Event()
        fleet = Fleet(proxy.control_port, ports[2:], seed=1)
        living = asyncio.create_task(fleet.run(stop))  # noqa: TID251  held here, awaited below
        for _ in range(QUARTERS):
            for every_us in (None, 2_000):
                taken = await asyncio.to_thread(load.measure, {**order, "every_us": every_us})
                assert taken["answers"] or taken["events"]
            held.append(proxy.holdings())
        stop.set()
        await living
        assert fleet.lives > SERVERS

        async def loads() -> list[dict[str, Any]]:
            rows = (await fetch(proxy.control_port, "GET", paths.DEBUG_INSTANCE_LOADS)).json()
            assert isinstance(rows, dict)
            return list(rows["instances"])

        # In the end only the two that the settings name are left, and nothing runs on them.
        await eventually_is(
            loads, lambda rows: [row["inflight"] for row in rows] == [0, 0], within_s=15
        )
        await eventually(lambda: proxy.holdings().descriptors <= held[0].descriptors, within_s=10)
    nothing_grew(held)


@pytest.mark.soak
async def test_two_minutes_of_life_and_death_under_load_leave_the_proxy_as_it_was(
    tmp_path: Path,
) -> None:
    await a_fleet_under_load_leaves_it_as_it_was(tmp_path, quarter_s=30)
