"""`cacheroute demo` from end to end: its figures, its end, and that nothing survives it."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.supervisor.children import an_environment, eventually

MARK = "CR_TEST_MARK"
COMMAND = [sys.executable, "-m", "cacheroute_cli", "demo", "--requests", "40", "--strategy", "rr"]


class Marked:
    """An environment by which every process that a test has brought about is found again."""

    def __init__(self, state: Path) -> None:
        self._mark = uuid.uuid4().hex
        self.env = an_environment(CACHEROUTE_STATE_DIR=str(state), **{MARK: self._mark})

    def processes(self) -> list[str]:
        wanted = f"{MARK}={self._mark}".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found


@pytest.fixture
def marked(tmp_path: Path) -> Marked:
    return Marked(tmp_path / "state")


@contextmanager
def a_demo(
    marked: Marked, *arguments: str, command: Sequence[str] = COMMAND
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*command, *arguments],
        env=marked.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as demo:  # fmt: skip
        try:
            yield demo
        finally:
            demo.kill()


def wait_for_note(demo: subprocess.Popen[str], beginning: str) -> str:
    assert demo.stderr is not None
    return next(line for line in demo.stderr if line.startswith(beginning))


def folders_left(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "state").iterdir() if path.is_dir()]


def test_the_demo_replays_real_conversations_without_a_failure(
    marked: Marked, tmp_path: Path
) -> None:
    done = subprocess.run(
        [*COMMAND, "--strategy", "least_load", "-o", "json"],
        env=marked.env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "cacheroute.demo/1"
    assert (document["requests"], document["failures"]) == (80, 0)
    assert [item["strategy"] for item in document["items"]] == ["round_robin", "least_load"]
    for item in document["items"]:
        assert sorted(item["split"]) == ["demo-1", "demo-2", "demo-3"]
        assert sum(item["split"].values()) == 40
        assert 0 < item["ttft_p50_ms"] <= item["ttft_p90_ms"] < item["end_to_end_p90_ms"]
        assert 0 < item["cached_ratio"] < document["repeated_ratio"]
    assert marked.processes() == []
    assert folders_left(tmp_path) == []


def test_a_configuration_of_the_caller_does_not_reach_the_demo(
    marked: Marked, tmp_path: Path
) -> None:
    (tmp_path / "f.yaml").write_text("proxy: {port: 1, nonsense: true}\n")
    marked.env |= {"CACHEROUTE_CONFIG": str(tmp_path / "f.yaml"), "PROXY_DP_PORT": "1"}

    done = subprocess.run(
        [*COMMAND, "--requests", "3", "--instances", "1"],
        env=marked.env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("STRATEGY")
    assert "3 requests, 0 failures" in done.stdout


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
@pytest.mark.parametrize("stage", ["starting", "round_robin"])
def test_no_process_survives_the_demo_however_it_ends(
    marked: Marked, tmp_path: Path, number: int, code: int, stage: str
) -> None:
    with a_demo(marked) as demo:
        wait_for_note(demo, stage)
        assert len(marked.processes()) >= 1
        demo.send_signal(number)
        assert demo.wait(timeout=30) == code

    assert eventually(lambda: marked.processes() == []), marked.processes()
    assert number == signal.SIGKILL or folders_left(tmp_path) == []


def test_what_a_killed_demo_left_on_disk_goes_with_the_next_one(
    marked: Marked, tmp_path: Path
) -> None:
    with a_demo(marked) as demo:
        wait_for_note(demo, "round_robin")
        demo.kill()
        demo.wait(timeout=30)
    assert folders_left(tmp_path) == [f"demo-{demo.pid}"]

    with a_demo(marked) as demo:
        wait_for_note(demo, "starting")
        assert folders_left(tmp_path) == [f"demo-{demo.pid}"]


def test_a_fleet_that_is_kept_can_be_looked_at_until_an_interrupt(marked: Marked) -> None:
    with a_demo(marked, "--requests", "5", "--keep") as demo:
        control = wait_for_note(demo, "look").split()[-1]
        health = httpx.get(f"{control}/healthz")
        listed = subprocess.run(
            [sys.executable, "-m", "cacheroute_cli", "instances", "--proxy-url", control],
            env=marked.env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        demo.send_signal(signal.SIGINT)
        out, _ = demo.communicate(timeout=30)

    assert health.json()["ok"] is True
    assert len(listed.stdout.splitlines()) == 3
    assert demo.returncode == 0
    assert "5 requests, 0 failures" in out
    assert marked.processes() == []


def test_an_instance_that_dies_is_a_failure_with_its_log(marked: Marked, tmp_path: Path) -> None:
    with a_demo(marked, "--requests", "5", "--keep") as demo:
        wait_for_note(demo, "look")
        [record] = (tmp_path / "state").glob("demo-*/demo.json")
        victims = [p for p in pids_of(marked) if "demo.instance" in command_of(p)]
        os.kill(victims[0], signal.SIGKILL)
        _, err = demo.communicate(timeout=30)

    assert demo.returncode == 1
    assert "was ended by signal 9" in err
    assert str(record.parent) in err
    assert marked.processes() == []


def command_of(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def pids_of(marked: Marked) -> list[int]:
    wanted = f"{MARK}={marked.env[MARK]}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found
