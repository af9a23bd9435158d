"""One picture of the console on stdout, or in a file, without a terminal."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.live_proxy import LiveProxy, live_proxy

_GONE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def proxy() -> Iterator[LiveProxy]:
    """Run a Proxy with a pool."""
    with live_proxy() as found:
        found.register("inst-1", "inst-2")
        yield found


def printed(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-P", "-m", "cacheroute_tui", *words],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **variables},
        timeout=120,
    )


def test_the_screen_is_printed_with_what_the_proxy_has(proxy: LiveProxy) -> None:
    done = printed("--once", f"--proxy-url={proxy.url}", "--screen=instances", "--size=100x20")

    assert done.returncode == 0, done.stderr
    assert "● LIVE" in done.stdout
    assert "inst-2" in done.stdout
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_the_overview_is_the_usual_one_and_is_ascii_where_asked(proxy: LiveProxy) -> None:
    done = printed("--once", f"--proxy-url={proxy.url}", "--ascii")

    assert done.returncode == 0
    assert "Pool" in done.stdout
    assert done.stdout.isascii()


def test_an_svg_is_written_to_its_file(proxy: LiveProxy, tmp_path: Path) -> None:
    file = tmp_path / "screen.svg"
    done = printed("--once", f"--proxy-url={proxy.url}", f"--svg={file}")

    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert file.read_text(encoding="utf-8").startswith("<svg")
    nowhere = printed("--once", f"--proxy-url={proxy.url}", f"--svg={tmp_path / 'no' / 'x.svg'}")
    assert nowhere.returncode == 1
    assert "cannot be written" in nowhere.stderr


def test_without_a_proxy_it_says_so_and_ends_with_3() -> None:
    done = printed("--once", f"--proxy-url={_GONE}")

    assert done.returncode == 3
    assert "cannot reach" in done.stdout


def test_without_a_terminal_the_console_says_what_else_there_is() -> None:
    done = printed(f"--proxy-url={_GONE}")

    assert done.returncode == 2
    assert "the console needs a terminal" in done.stderr
    assert "--once" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--once", "--size=huge"), "--size is such as 80x24, not 'huge'"),
        (("--once", "--proxy-url=ftp://x"), "is not the URL of a control plane"),
        (("--screen=nowhere",), "invalid choice: 'nowhere'"),
        (("--once", "--replay=/nowhere/at/all"), "/nowhere/at/all"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_line(words: tuple[str, ...], told: str) -> None:
    done = printed(*words)

    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_left_is_exit_141_and_silence() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    with open(writes, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "cacheroute_tui", "--once", "--demo"],
            stdout=pipe, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, timeout=120,
        )  # fmt: skip

    assert (done.returncode, done.stderr) == (141, b"")
