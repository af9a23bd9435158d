"""`cacheroute demo --tui` in a real terminal: it shows traffic, and ends with all it started."""

import sys
from pathlib import Path

import pytest

from tests.cli.supervisor.children import eventually
from tests.e2e.test_demo import Marked, folders_left
from tests.support.tmux import Pane, needs_tmux

pytestmark = needs_tmux


def ours_of(marked: Marked) -> list[str]:
    """Return the Proxy, the Instances and whatever else of Python the demo has started."""
    return [one for one in marked.processes() if one.startswith(sys.executable)]


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
        assert len(ours_of(marked)) >= 4
        for key in keys:
            pane.keys(key)
        pane.until(f"left with {code}")
        # The terminal itself is left, and its command line has our words as well.
        assert eventually(lambda: not ours_of(marked)), ours_of(marked)
    finally:
        pane.end()
    assert not [name for name in folders_left(tmp_path) if name.startswith("demo")]
