"""The bench for real, in its quickest form: the shape of what it says, never a time."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bench import report, routers
from tests.bench.fleet import STATES
from tests.bench.processes import ROOT
from tests.bench.rounds import DIRECT, LOADS

OURS = {"round_robin", "least_load"}


def members_of(session: int) -> list[int]:
    """Return the processes of a session that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def nothing_is_left_of(session: int) -> bool:
    """Wait a moment for a session to become empty."""
    deadline_s = time.monotonic() + 10
    while members_of(session) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    return not members_of(session)


def start(*options: str) -> subprocess.Popen[str]:
    """Start the bench in a session of its own, which all it starts belongs to."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.bench", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def result_of(*options: str, file: Path) -> tuple[dict[str, Any], str]:
    """Run the bench to its end, and return its numbers and what it printed."""
    bench = start(*options, "--quick", "--json", str(file))
    printed, complaints = bench.communicate(timeout=120)
    assert bench.returncode == 0, complaints
    assert nothing_is_left_of(bench.pid)
    numbers = json.loads(file.read_text())
    assert isinstance(numbers, dict)
    return numbers, printed


def test_a_quick_bench_measures_every_row_under_every_load(tmp_path: Path) -> None:
    numbers, printed = result_of(file=tmp_path / "bench.json")
    rows = numbers["rows"]
    there = {router.name for router in routers.here()}
    assert {"round_robin", "least_load", "relay"} <= there
    assert rows.keys() == there | {DIRECT}
    for name in there:
        assert rows[name]["is_ours"] == (name in OURS)
        assert rows[name]["start_s"] > 0
        assert rows[name]["memory_mb"] > 0
        assert rows[name]["loads"].keys() == {load.name for load in LOADS}
        for cell in rows[name]["loads"].values():
            spread = cell["cpu_us"]
            assert 0 < spread["min"] <= spread["median"] <= spread["max"]
            assert cell["ratio"].keys() == (there & set(report.BASES)) - {name}
            assert cell["per_s"] > 0
        assert rows[name]["loads"]["saturated"]["delivered_ratio"]["median"] > 0
    for title in (*(load.title for load in LOADS), "Bars", *there):
        assert title in printed


def test_a_quick_look_at_growth_covers_instances_streams_and_requests(tmp_path: Path) -> None:
    numbers, printed = result_of("growth", file=tmp_path / "growth.json")
    assert numbers["instances"].keys() == OURS
    assert "round_robin" in numbers["streams"]
    for grown in (*numbers["instances"].values(), *numbers["streams"].values()):
        assert grown["few"] < grown["many"]
        assert grown["ratio_min"] <= grown["ratio"] <= grown["ratio_max"]
    served = numbers["requests"]
    assert len(served["memory_mb"]) == len(served["cpu_us"]) > 4
    assert {row["strategy"] for row in numbers["decisions"]} == OURS
    assert {row["state"] for row in numbers["states"]} == STATES.keys()
    assert "least_load, one decision over" in printed


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_bench_that_is_ended_takes_its_processes_along(how: signal.Signals) -> None:
    bench = start("--rounds", "50")
    assert bench.stderr is not None
    try:
        assert bench.stderr.readline().startswith("round_robin: first 200"), "it did not start"
        assert len(members_of(bench.pid)) > 3
        os.kill(bench.pid, how)
        bench.communicate(timeout=30)
        assert nothing_is_left_of(bench.pid)
    finally:
        for pid in members_of(bench.pid):
            os.kill(pid, signal.SIGKILL)
        bench.wait()


def test_a_growth_of_memory_shows_in_the_last_quarter_alone() -> None:
    from tests.bench.growth import is_flat

    assert is_flat([20, 40, 50, 60, 61, 61, 61, 62.5])
    assert not is_flat([50, 51, 52, 53, 54, 55, 56.5, 58])
    assert is_flat([500] * 7 + [504])


def test_ratios_are_taken_within_a_round() -> None:
    from tests.bench.rounds import Row, Sample

    ours = Row(
        "round_robin", True, 0.5, 40.0, {"json2k": [Sample(30, 1, None), Sample(80, 1, None)]}
    )
    base = Row("nginx", False, 0.1, 5.0, {"json2k": [Sample(10, 1, None), Sample(40, 1, None)]})
    assert report.ratios(ours, base, "json2k") == [3.0, 2.0]
