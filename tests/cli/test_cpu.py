"""What a command costs, in CPU against a loop on the same machine at the same time.

On the machine the bars are from, the loop takes 115 ms, help may take 150 and status 350.
"""

import resource
import subprocess
import sys
from pathlib import Path

from tests.cli.commands.control_plane import a_control_plane, an_instance, replies
from tests.cli.supervisor.children import an_environment

LOOP = ["-c", "for i in range(2_000_000): i * i"]
GENEROUS = 1.5
"""Other work on the machine costs a short process more than a long loop."""
HELP = 150 / 115 * GENEROUS
STATUS = 350 / 115 * GENEROUS
ROUNDS = 5


def cpu_s(arguments: list[str], state: Path) -> float:
    """Return the least that one run took, of its own and of the system for it."""
    least = float("inf")
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments],
            env=an_environment(CACHEROUTE_STATE_DIR=str(state)), stdout=subprocess.DEVNULL,
            check=True,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = min(least, took)
    return least


def test_help_costs_little_more_than_an_interpreter(tmp_path: Path) -> None:
    loop_s = cpu_s(LOOP, tmp_path)

    assert cpu_s(["-m", "cacheroute_cli", "--help"], tmp_path) < HELP * loop_s


def test_a_look_at_the_proxy_costs_a_fraction_of_a_second(tmp_path: Path) -> None:
    loop_s = cpu_s(LOOP, tmp_path)

    with a_control_plane(replies(*(an_instance(f"i-{n}") for n in range(8)))) as url:
        for command in ("status", "instances"):
            took_s = cpu_s(["-m", "cacheroute_cli", command, "--proxy-url", url], tmp_path)
            assert took_s < STATUS * loop_s
