"""What outside input can grow has a bound: crowds of strangers leave a Proxy as it was."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cacheroute.wire import paths
from tests.bench import processes
from tests.bench.growth import FLAT_MB, FLAT_RATIO
from tests.soak.control_calls import Strangers, crowd
from tests.soak.fleet import RULES, Fleet
from tests.soak.in_process import (
    allocated_blocks,
    control_app,
    crowd_in_process,
    our_objects,
)
from tests.soak.proxy_process import Holdings, proxy_process
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
STRANGERS_RULES: dict[str, Any] = {
    "pool__max_instances": MAX_INSTANCES,
    "pool__max_unknown_ids": MAX_INSTANCES,
    "pool__ttl_s": 0.2,  # so that they also fall silent, die and make room
    "pool__reap_after_s": 0.6,
}


@pytest.fixture
def no_log() -> Iterator[None]:
    """Write no log: a line for each stranger is kept by whoever looks for lines in tests."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def is_flat(values: Sequence[float], room: float) -> bool:
    """Tell whether the last quarter added no more than `room`, or one percent, to all before."""
    return values[-1] - max(values[:-1]) <= max(room, values[-1] * FLAT_RATIO)


def nothing_grew(held: Sequence[Holdings]) -> None:
    """Check what was held after each quarter."""
    assert is_flat([one.memory_mb for one in held], FLAT_MB), held
    assert held[-1].descriptors <= held[0].descriptors + AT_ONCE, held
    assert max(one.state_bytes for one in held) < STATE_BYTES, held


# Strangers


@pytest.mark.usefixtures("no_log")
async def test_a_crowd_of_strangers_leaves_the_control_plane_as_it_was() -> None:
    calls = 30_000
    strangers = Strangers(seed=1)
    blocks: list[int] = []
    objects: list[Counter[str]] = []
    async with running_proxy(**STRANGERS_RULES) as proxy:
        app, registrar = control_app(proxy.app), proxy.app.registrar
        assert registrar is not None
        for _ in range(QUARTERS):
            await crowd_in_process(app, strangers, calls // QUARTERS)
            await asyncio.sleep(0.7)  # all that are left fall silent
            registrar.reap()
            assert not registrar.pool.members
            blocks.append(allocated_blocks())
            objects.append(our_objects())
    grown = {name: count for name, count in (objects[-1] - objects[1]).items() if count > 20}
    assert grown == {}, f"{grown} more than after the second quarter"
    # Two of five calls that leave something behind are more than this.
    assert blocks[-1] - max(blocks[:-1]) <= calls // 10, blocks


async def known(control_port: int) -> list[Any]:
    """Return the rows of all Instances, the dead ones too."""
    answer = await fetch(control_port, "GET", paths.INSTANCE_LIST + "?include_dead=true")
    rows = answer.json()
    assert isinstance(rows, list)
    return rows


@pytest.mark.soak
async def test_a_million_strangers_leave_the_control_plane_as_it_was(tmp_path: Path) -> None:
    calls = 1_000_000
    strangers = Strangers(seed=2)
    held: list[Holdings] = []
    rules = [f"{name.replace('__', '.')}={value}" for name, value in STRANGERS_RULES.items()]
    with proxy_process(tmp_path, *rules) as proxy:
        for _ in range(QUARTERS):
            await crowd(proxy.control_port, strangers, calls // QUARTERS, AT_ONCE)
            assert len(await known(proxy.control_port)) <= MAX_INSTANCES
            page = await fetch(proxy.control_port, "GET", paths.METRICS)
            assert len(page.body) < MAX_INSTANCES * 10_000
            await eventually_is(
                lambda: known(proxy.control_port), lambda rows: rows == [], within_s=30
            )
            held.append(proxy.holdings())
    nothing_grew(held)
    assert held[-1].log_bytes <= calls * LINE_BYTES, held  # a line for each, at most


@pytest.mark.usefixtures("no_log")
async def test_instances_that_came_and_went_leave_no_object_behind() -> None:
    async with running_proxy() as proxy:

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


@pytest.mark.soak
async def test_two_minutes_of_life_and_death_under_load_leave_the_proxy_as_it_was(
    tmp_path: Path,
) -> None:
    """JSON and streams are served all the while, and no request fails of it."""
    held: list[Holdings] = []
    with (
        (tmp_path / "bench.log").open("wb") as log,
        processes.backends(SERVERS + 2, None, log) as ports,
        processes.load(None, log) as load,
        proxy_process(
            tmp_path, *RULES, "strategy.name=least_load",
            "proxy.request_log_bytes=1000000", "proxy.request_log_keep=1",
            "pool.instances=" + ",".join(f"http://127.0.0.1:{port}" for port in ports[:2]),
        ) as proxy,
    ):  # fmt: skip
        order: dict[str, Any] = {
            "port": proxy.service_port, "connections": 16, "size": "2k", "warm_s": 0.1,
            "window_s": 15.0, "pids": [],
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
