"""What a large fleet costs: CPU time, bytes to the terminal, and how long the loop is held up.

Bounds in the usual run are wide, since others use the machine too: they catch what costs many
times as much. `make soak` has the bars, and `make bench-console` prints every figure.
"""

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute_tui.options import MIN_INTERVAL_S
from tests.tui.costs import cost_of, cost_over_network, first_paint_ms
from tests.tui.measure import (
    BLOCK_MS,
    CPU_MS,
    FRAME_BYTES,
    PAINT_MS,
    PAUSED_RATIO,
    RSS_MB,
    SCREENS,
    STATES,
    TEN_MINUTES,
    big_proxy,
)

_LOADED = """
import sys
import cacheroute_tui.__main__, cacheroute_tui.app, cacheroute_tui.opening
unwanted = {"httpx", "pydantic", "fastapi", "uvicorn", "rich.markdown", "rich.syntax"}
print(sorted(unwanted & set(sys.modules)))
"""


def test_what_draws_the_first_picture_loads_no_models_and_nothing_for_the_network() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _LOADED], capture_output=True, text=True, check=True
    ).stdout

    assert told == "[]\n"


def test_the_first_picture_comes_soon(tmp_path: Path) -> None:
    first_paint_ms(tmp_path)

    assert min(first_paint_ms(tmp_path) for _ in range(2)) <= 3 * PAINT_MS


@pytest.mark.parametrize("screen", SCREENS)
def test_a_thousand_instances_cost_little(screen: str) -> None:
    cost = cost_of(screen, looks=8, interval_s=0.1)

    # A look a second of 150 ms is 15 % of a core.
    assert cost.cpu_ms <= 150, cost
    assert cost.block_ms <= 4 * BLOCK_MS, cost
    assert cost.frame_bytes <= FRAME_BYTES, cost
    assert cost.rss_mb <= 1.5 * RSS_MB, cost


def test_the_cost_hardly_grows_with_the_fleet() -> None:
    few, many = (
        cost_of("instances", instances=count, looks=8, interval_s=0.1) for count in (50, 1_000)
    )

    assert many.cpu_ms <= 6 * few.cpu_ms, (few, many)


def test_a_picture_that_is_held_costs_next_to_nothing() -> None:
    cost = cost_of("instances", looks=4, interval_s=0.5, state="paused")

    assert cost.core_ratio <= 10 * PAUSED_RATIO, cost


def test_memory_grows_by_the_history_alone() -> None:
    short, long = (cost_of("instances", looks=count, interval_s=0.02) for count in (10, 110))

    # A look of a thousand is 12 kB; the rest is room that drawing takes once.
    assert long.rss_mb - short.rss_mb <= 10, (short, long)


@pytest.mark.soak
def test_the_bar_of_the_first_picture(tmp_path: Path) -> None:
    first_paint_ms(tmp_path)

    assert statistics.median(first_paint_ms(tmp_path) for _ in range(10)) <= PAINT_MS


@pytest.mark.soak
@pytest.mark.parametrize("screen", SCREENS)
def test_the_bars_of_a_thousand_instances(screen: str) -> None:
    cost = cost_of(screen, looks=40)

    assert cost.cpu_ms <= CPU_MS, cost
    assert cost.block_ms <= BLOCK_MS, cost
    assert cost.worst_frame_bytes <= FRAME_BYTES, cost


@pytest.mark.soak
def test_ten_minutes_of_a_thousand_instances_stay_small() -> None:
    cost = cost_of("instances", looks=TEN_MINUTES, interval_s=0.1)

    assert cost.rss_mb <= RSS_MB, cost


@pytest.mark.soak
def test_the_bars_of_a_fleet_that_stands_still_and_of_a_picture_that_is_held() -> None:
    for state, count, size, bar in STATES:
        cost = cost_of(
            "instances", instances=count, looks=20, interval_s=1.0, state=state, size=size
        )

        assert cost.core_ratio <= bar, (state, count, cost)


@pytest.mark.soak
def test_the_bars_of_a_thousand_instances_over_the_network() -> None:
    with big_proxy(1_000) as url:
        cost = cost_over_network(url, "overview", looks=20)

    assert cost.cpu_ms <= CPU_MS, cost


@pytest.mark.soak
def test_ten_minutes_of_a_thousand_instances_over_the_network_stay_small() -> None:
    with big_proxy(1_000) as url:
        cost = cost_over_network(url, "overview", looks=TEN_MINUTES, interval_s=MIN_INTERVAL_S)

    assert cost.rss_mb <= RSS_MB, cost
