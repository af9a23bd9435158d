"""`cacheroute demo --tui` in a real terminal: it shows traffic, and ends with all it started."""

import sys
from pathlib import Path

import pytest

from tests.cli.supervisor.children import eventually
from tests.e2e.test_demo import Marked, folders_left
from tests.support.tmux import Pane, needs_tmux

pytestmark = needs_tmux


@pytest.mark.parametrize(
    ("keys", "code"),
    [(("q",), 0), (("C-c", "C-c"), 130), ((":", "q", "Enter"), 0)],
)
def test_the_demo_is_watched_until_the_console_is_left(
    tmp_path: Path, keys: tuple[str, ...], code: int
) -> None:
    marked = Marked(tmp_path / "state")
    words = f"{sys.executable} -m cacheroute_cli demo --tui --instances 2 --speed 20"
    pane = Pane(tmp_path / "tmux", f"{words}; echo left with $?; cat", marked.env)
    try:
        pane.until("LIVE", "WRITE", "demo-1", "demo-2", "why this Instance?", "→ demo-")
        for key in keys:
            pane.keys(key)
        pane.until(f"left with {code}")
        # What is left is the terminal itself: its shell and the cat that keeps it open.
        eventually(lambda: not [one for one in marked.processes() if "cacheroute" in one])
    finally:
        pane.end()
    assert not [name for name in folders_left(tmp_path) if name.startswith("demo")]
