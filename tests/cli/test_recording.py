"""Recording from the command line: it ends when asked to, and a Proxy that is gone is a gap."""

import json
import signal
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec

from cacheroute.sources.recording import Recording
from cacheroute.sources.replay import ReplaySource
from cacheroute.wire.console import ConsoleSnapshot, Identities
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.recording import default_file
from tests.cacheroute.client.canned import a_peer, answer
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.children import an_environment


def test_a_name_tells_when_it_was_made_wherever_that_was() -> None:
    there = timezone(timedelta(hours=2))

    assert default_file(datetime(2026, 1, 2, 5, 4, 5, tzinfo=there)) == Path(
        "cacheroute-20260102T030405Z.rec"
    )
    assert default_file(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)).suffix == ".rec"


def a_recording_of(url: str, path: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "cacheroute_cli", "record", "-d", str(path), "-i", "0.2",
         "--proxy-url", url, *words],
        env=an_environment(CACHEROUTE_STATE_DIR=str(path.parent)), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_ctrl_c_ends_it_with_a_file_that_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    document = msgspec.json.encode(
        ConsoleSnapshot(rev=1, generated_at=5.0, identities=Identities(ids=["a"]))
    )
    looked = threading.Semaphore(0)

    def reply(request: bytes, connection: socket.socket) -> None:
        is_look = b"/v1/console/snapshot" in request
        connection.sendall(answer(document if is_look else b"{}"))
        if is_look:
            looked.release()

    with a_peer(reply) as url:
        process = a_recording_of(url, path, "-o", "json")
        # While the third is asked for, two are kept.
        assert all(looked.acquire(timeout=20) for _ in range(3))
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=20)

    assert process.returncode == Exit.OK, said
    assert "Ctrl-C ends it" in said
    found = json.loads(out)
    assert flaws_of(found) == []
    with Recording(path) as recording:
        assert (recording.looks, recording.is_torn) == (found["looks"], False)
        assert found["looks"] >= 2
        assert found["bytes"] == path.stat().st_size
    source = ReplaySource.open(path)
    assert [row.id for row in source.look_at(0).instances] == ["a"]
    source.recording.close()


def test_a_proxy_that_never_answers_is_told_in_the_end(tmp_path: Path) -> None:
    process = a_recording_of("http://127.0.0.1:1", tmp_path / "a.rec", "--for", "0.3")
    _, said = process.communicate(timeout=20)

    assert process.returncode == Exit.UNREACHABLE
    assert said.count("cannot reach") == 1
    assert "holds no look" in said


def test_a_disk_that_is_full_is_told_and_no_bug(tmp_path: Path) -> None:
    folder = tmp_path / "record"
    folder.mkdir()
    limited = (
        "import resource, sys; from cacheroute_cli.main import main;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY)); main()"
    )
    document = msgspec.json.encode(
        ConsoleSnapshot(rev=1, generated_at=5.0, identities=Identities(ids=["a" * 4000]))
    )
    with a_peer(lambda _, connection: connection.sendall(answer(document))) as url:
        done = subprocess.run(
            [sys.executable, "-c", limited, "record", "-d", str(folder / "a.rec"), "-i", "0.2",
             "--for", "0.1", "--proxy-url", url],
            env=an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    assert done.returncode == Exit.FAILED
    assert f"{folder / 'a.rec'} cannot be written (File too large)" in done.stderr
