"""The console in a real terminal, tmux: it draws, takes keys, follows a resize, and leaves."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.live_proxy import LiveProxy, live_proxy
from tests.cli.supervisor.children import an_environment
from tests.support.tmux import Pane, needs_tmux

pytestmark = needs_tmux


@pytest.fixture
def proxy() -> Iterator[LiveProxy]:
    """Run a Proxy with a pool."""
    with live_proxy() as found:
        found.register("inst-1", "inst-2")
        yield found


@pytest.fixture
def pane(proxy: LiveProxy, tmp_path: Path) -> Iterator[Pane]:
    """Open the console of that Proxy in a terminal."""
    words = f"{sys.executable} -P -m cacheroute_tui --theme=dark --screen=instances"
    command = f"{words} --proxy-url={proxy.url}; echo left with $?; cat"
    found = Pane(tmp_path / "tmux", command)
    yield found
    found.end()


def test_it_draws_takes_keys_follows_a_resize_and_leaves(pane: Pane) -> None:
    text = pane.until("LIVE", "2INST", "inst-1")
    assert max(map(len, text.splitlines())) <= 80

    pane.keys("/")
    pane.keys("q")
    pane.until("/ q")
    pane.keys("Escape")
    # An escape right before another key would be one key with it.
    pane.until_gone("/ q")
    pane.keys("?")
    pane.until("keys of Instances")
    pane.keys("Escape")
    pane.until_gone("keys of Instances")
    pane.resize(120, 36)
    pane.until("2 INSTANCES", "8 Processes")
    pane.resize(60, 16)
    pane.until("2INST")
    pane.resize(80, 24)
    pane.until("2INST", "Quit")
    pane.keys("q")
    pane.until("left with 0")


def test_it_draws_although_errors_go_to_a_file(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    words = f"{sys.executable} -P -m cacheroute_tui --theme=dark --demo"
    pane = Pane(tmp_path / "tmux", f"{words} 2>{errors}; echo left with $?; cat")
    try:
        pane.until("LIVE", "1OVR")
        pane.keys("q")
        pane.until("left with 0")
        assert errors.read_bytes() == b""
    finally:
        pane.end()


_WITH_A_BUG = """
import sys
from cacheroute_tui.__main__ import main
from cacheroute_tui.screens.instances import Instances

def draw(*_):
    if _[0].app.is_paused:
        raise RuntimeError("odd")

Instances.tick = draw
sys.exit(main(["--demo", "--screen=instances", "--theme=dark"]))
"""


def test_after_a_bug_the_terminal_is_as_it_was_and_one_line_says_so(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_WITH_A_BUG)
    words = f"echo before; {sys.executable} {program}; echo left with $?; stty -a; cat"
    pane = Pane(tmp_path / "tmux", words, an_environment(CACHEROUTE_STATE_DIR=str(tmp_path)))
    try:
        pane.until("LIVE", "2INST")
        pane.keys("p")
        text = pane.until("left with 1", " echo ", " icanon ")
    finally:
        pane.end()

    assert "before" in text
    assert "this is a bug: RuntimeError: odd" in text
    assert f"{tmp_path}/crash/" in text.replace("\n", "")
    assert "Traceback" not in text
