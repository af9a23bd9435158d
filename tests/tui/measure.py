"""Every bar of the console in one table: `python -m tests.tui.measure`.

Takes about sixteen minutes, since a Proxy is looked at twice a second at most. A figure beyond
its bar has a `!`, and the command then ends with 1.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cacheroute_tui.options import MIN_INTERVAL_S
from tests.tui.big_console import State
from tests.tui.costs import cost_of, cost_over_network, first_paint_ms

SCREENS = (
    "overview", "instances", "resources", "queues", "scores", "topology", "traces", "processes",
    "raw",
)  # fmt: skip
CPU_MS, BLOCK_MS, FRAME_BYTES, RSS_MB, PAINT_MS = 50.0, 20.0, 40_000.0, 80.0, 600.0
"""Bars of one look, of memory after ten minutes, and of the first picture."""
STILL_RATIO, PAUSED_RATIO = 0.015, 0.005
"""Of a core, at a look a second: of looks at which only the time has moved, and of a picture that
is held."""
STATES: tuple[tuple[State, int, tuple[int, int], float], ...] = (
    ("still", 1_000, (160, 48), STILL_RATIO),
    ("still", 3, (80, 24), STILL_RATIO),
    ("paused", 1_000, (160, 48), PAUSED_RATIO),
)
"""How many Instances in a terminal of which size, and the bar."""
TEN_MINUTES = 600
"""Looks; they are taken faster than one a second, and there are as many of them."""


@dataclass(slots=True)
class Verdicts:
    """Counts figures beyond their bars."""

    beyond: int = 0

    def __call__(self, value: float, bar: float, shown: str) -> str:
        """Return a figure as it is shown."""
        if value <= bar:
            return shown
        self.beyond += 1
        return f"{shown} !"


def main() -> int:
    """Measure and print; returns 1 when a bar is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.tui.measure")
    parser.add_argument("--instances", type=int, default=1_000)
    parser.add_argument("--looks", type=int, default=30, help="of each screen")
    parser.add_argument("--screens", default=",".join(SCREENS))
    parser.add_argument("--brief", action="store_true", help="the screens alone")
    asked = parser.parse_args()
    out, verdict = Console(), Verdicts()
    screens: list[str] = asked.screens.split(",")
    _screens(out, verdict, screens, instances=asked.instances, looks=asked.looks)
    if not asked.brief:
        _rest(out, verdict, instances=asked.instances)
    return 1 if verdict.beyond else 0


def _screens(
    out: Console, verdict: Verdicts, screens: list[str], *, instances: int, looks: int
) -> None:
    table = _table(
        f"one look, {instances:,} Instances, 160x48",
        "screen", "CPU ms", "blocked ms", "at worst", "largest frame kB", "memory MB",
    )  # fmt: skip
    for screen in screens:
        cost = cost_of(screen, instances=instances, looks=looks)
        table.add_row(
            screen,
            verdict(cost.cpu_ms, CPU_MS, f"{cost.cpu_ms:.1f}"),
            verdict(cost.block_ms, BLOCK_MS, f"{cost.block_ms:.1f}"),
            f"{cost.worst_block_ms:.1f}",
            verdict(cost.worst_frame_bytes, FRAME_BYTES, f"{cost.worst_frame_bytes / 1000:.1f}"),
            verdict(cost.rss_mb, RSS_MB, f"{cost.rss_mb:.1f}"),
        )
    out.print(table)


def _rest(out: Console, verdict: Verdicts, *, instances: int) -> None:
    table = _table("the rest", "what", "figure", "bar")
    with tempfile.TemporaryDirectory() as folder:
        first_paint_ms(Path(folder))
        paint_ms = statistics.median(first_paint_ms(Path(folder)) for _ in range(10))
    table.add_row(
        "first picture, CPU ms", verdict(paint_ms, PAINT_MS, f"{paint_ms:.0f}"), f"{PAINT_MS:.0f}"
    )
    cost = cost_of("instances", instances=instances, looks=TEN_MINUTES, interval_s=0.1)
    table.add_row(
        f"memory after {TEN_MINUTES} looks, MB",
        verdict(cost.rss_mb, RSS_MB, f"{cost.rss_mb:.1f}"), f"{RSS_MB:.0f}",
    )  # fmt: skip
    for state, count, size, bar in STATES:
        cost = cost_of(
            "instances", instances=count, looks=20, interval_s=1.0, state=state, size=size
        )
        table.add_row(
            f"{state}, {count:,} Instances, {size[0]}x{size[1]}, % of a core",
            verdict(cost.core_ratio, bar, f"{100 * cost.core_ratio:.2f}"), f"{100 * bar:.1f}",
        )  # fmt: skip
    with big_proxy(instances) as url:
        for screen in ("overview", "instances"):
            seen = cost_over_network(url, screen, looks=20)
            table.add_row(
                f"{screen} over the network, CPU ms a second",
                verdict(seen.cpu_ms, CPU_MS, f"{seen.cpu_ms:.1f}"), f"{CPU_MS:.0f}",
            )  # fmt: skip
            seen = cost_over_network(url, screen, looks=TEN_MINUTES, interval_s=MIN_INTERVAL_S)
            table.add_row(
                f"{screen} over the network, memory after {TEN_MINUTES} looks, MB",
                verdict(seen.rss_mb, RSS_MB, f"{seen.rss_mb:.1f}"), f"{RSS_MB:.0f}",
            )  # fmt: skip
    out.print(table)


@contextmanager
def big_proxy(instances: int) -> Iterator[str]:
    """Run a control plane over a simulated fleet; its address."""
    words = [sys.executable, "-m", "tests.tui.big_proxy", str(instances)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        yield f"http://127.0.0.1:{int(child.stdout.readline())}"
        child.stdin.close()


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        table.add_column(column, justify="right" if at else "left")
    return table


if __name__ == "__main__":
    sys.exit(main())
