"""`cacheroute demo --knowledge` from end to end: three ways compared, and nothing survives it."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from cacheroute_cli.supervisor.identity import (
    Identity,
    command_line,
    identify,
    is_running,
    running_pids,
)
from tests.cli.supervisor.children import eventually
from tests.e2e.test_demo import COMMAND as PLAIN
from tests.e2e.test_demo import Marked, a_demo, command_of, folders_left, pids_of, wait_for_note

COMMAND = [
    *PLAIN[:4], "--knowledge", "--requests", "6", "--speed", "40", "--bandwidth", "1",
]  # fmt: skip
WAYS = ["text", "kvcache", "iws"]

pytestmark = pytest.mark.skipif(
    shutil.which("redis-server") is None, reason="redis-server is not installed"
)


@pytest.fixture
def marked(tmp_path: Path) -> Marked:
    return Marked(tmp_path / "state")


def redises_of(pid: int) -> list[Identity]:
    """Return the Redis servers that a process has started; they paint over their environment."""
    ours = (identify(child) for child in running_pids() if _parent(child) == pid)
    return [one for one in ours if one and "redis-server" in (command_line(one.pid) or "")]


def _parent(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(stat[stat.rindex(")") + 2 :].split()[1])


def done(marked: Marked, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        env=marked.env, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_same_questions_go_three_ways_and_leave_nothing(marked: Marked, tmp_path: Path) -> None:
    """Whatever the caller's environment says: none of it is for the demo."""
    marked.env |= {
        "PROXY_INJECTION_STRATEGY": "nonsense", "READY_CONCURRENCY": "x", "IWS_DECISION_MARGIN_MS":
        "x", "KDN_DEFAULT_BANDWIDTH_MBPS": "x", "PREPARE_CONCURRENCY": "x", "INSTANCE_PORT": "x",
    }  # fmt: skip
    ended = done(marked, "-o", "json")

    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["schema"] == "cacheroute.demo.knowledge/1"
    assert (document["requests"], document["failures"]) == (18, 0)
    assert [(item["bandwidth_gbps"], item["way"]) for item in document["items"]] == [
        (1.0, way) for way in WAYS
    ]
    text, kv, iws = document["items"]
    assert (text["kv_ratio"], kv["link_wait_mean_ms"] is not None) == (0.0, True)
    # Four of six texts have a whole block of 256 tokens, and only a block has KV.
    assert kv["kv_ratio"] == pytest.approx(4 / 6)
    assert set(iws["reasons"]) <= {
        "kvcache_hidden_and_score_better", "kvcache_score_better", "text_due_to_kdn_congestion",
        "text_despite_active_kv_wait", "text_score_better",
    }  # fmt: skip
    assert set(text["reasons"]) == set(kv["reasons"]) == {"scheduler_mode"}
    for item in document["items"]:
        assert 0 < item["ttft_p50_ms"] <= item["ttft_p90_ms"]
        assert item["predicted_mean_ms"] > 0
    assert [row["way"] for row in document["mix"]] == WAYS
    assert document["comparison"]["below_text_ratio"] is not None
    assert document["coefficients"]["fitted"]["ttft"]["used"] == 12
    assert marked.processes() == []
    assert folders_left(tmp_path) == []


def test_the_table_has_the_ways_and_the_verdict(marked: Marked) -> None:
    ended = done(marked, "--bandwidth", "10", "--requests", "3")

    assert ended.returncode == 0, ended.stderr
    for gbps in ("1 Gb/s", "10 Gb/s", "all"):
        for way in WAYS:
            assert any(
                line.startswith(gbps) and line.split()[len(gbps.split())] == way
                for line in ended.stdout.splitlines()
            ), (gbps, way, ended.stdout)
    assert "18 requests, 0 failures" in ended.stdout
    assert ended.stdout.splitlines()[-1].startswith("iws: ")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
@pytest.mark.parametrize("stage", ["knowledge", "calibrate", "kvcache"])
def test_no_process_survives_it_however_it_ends(
    marked: Marked, tmp_path: Path, number: int, code: int, stage: str
) -> None:
    with a_demo(marked, command=COMMAND) as demo:
        wait_for_note(demo, stage)
        [redis] = redises_of(demo.pid)
        assert len(marked.processes()) >= 2
        demo.send_signal(number)
        assert demo.wait(timeout=30) == code

    assert eventually(lambda: marked.processes() == []), marked.processes()
    assert eventually(lambda: not is_running(redis)), redis
    assert number == signal.SIGKILL or folders_left(tmp_path) == []


def test_what_is_kept_can_be_asked_until_an_interrupt(marked: Marked) -> None:
    with a_demo(marked, "--requests", "2", "--keep", command=COMMAND) as demo:
        base_url = wait_for_note(demo, "up").split()[1]
        kid = json.loads("{" + wait_for_note(demo, "ask").split(" and ")[1] + "}")
        control_url = wait_for_note(demo, "look").split()[-1]
        body = {
            "model": "demo-8b", "messages": [{"role": "user", "content": "What is it about?"}],
            "max_tokens": 2, "RAG": True, **kid,
        }  # fmt: skip
        answer = httpx.post(f"{base_url}/chat/completions", json=body, trust_env=False)
        decisions = httpx.get(f"{control_url}/debug/decisions", trust_env=False)
        demo.send_signal(signal.SIGINT)
        out, _ = demo.communicate(timeout=30)

    assert answer.status_code == 200
    assert answer.json()["_cacheroute_meta"]["error"] is None
    assert decisions.status_code == 200
    assert demo.returncode == 0
    assert "6 requests, 0 failures" in out
    assert marked.processes() == []


def test_requests_that_fail_are_a_bad_answer_with_its_logs(marked: Marked, tmp_path: Path) -> None:
    with a_demo(marked, command=COMMAND) as demo:
        wait_for_note(demo, "text at")
        [instance] = [pid for pid in pids_of(marked) if "demo.instance" in command_of(pid)]
        os.kill(instance, signal.SIGKILL)
        out, err = demo.communicate(timeout=60)

    assert demo.returncode == 6
    assert "of 18 requests failed" in err
    assert "text at 1 Gb/s failed: " in out
    assert folders_left(tmp_path) == [f"demo-{demo.pid}"]
    assert marked.processes() == []
