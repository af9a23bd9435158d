"""What outside input can grow has a bound: a crowd of strangers leaves a Proxy as it was."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from cacheroute.wire import paths
from tests.bench.growth import FLAT_MB, FLAT_RATIO
from tests.soak.control_calls import Strangers, crowd
from tests.soak.proxy_process import Holdings, ProxyProcess, proxy_process
from tests.support.client import fetch

AT_ONCE = 8
MAX_INSTANCES = 256
QUARTERS = 4


async def page_bytes(proxy: ProxyProcess, path: str) -> int:
    """Return the size of a page of the control plane."""
    answer = await fetch(proxy.control_port, "GET", path)
    assert answer.status == 200
    return len(answer.body)


def flat(values: Sequence[float], room: float) -> bool:
    """Tell whether the last quarter added no more than `room`, or one percent."""
    return values[-1] - values[-2] <= max(room, values[-1] * FLAT_RATIO)


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
        print(held, pages)
        assert flat([one.memory_mb for one in held], FLAT_MB), held
        assert held[-1].descriptors <= held[0].descriptors + AT_ONCE, held
        assert flat([one.state_bytes for one in held], 512 * 1024), held
        assert flat(pages, 4096), pages


async def test_fifty_thousand_strangers_leave_the_control_plane_as_it_was(tmp_path: Path) -> None:
    await a_crowd_leaves_it_as_it_was(tmp_path, 50_000)


@pytest.mark.soak
async def test_a_million_strangers_leave_the_control_plane_as_it_was(tmp_path: Path) -> None:
    await a_crowd_leaves_it_as_it_was(tmp_path, 1_000_000)
