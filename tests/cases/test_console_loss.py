"""C106 and C109 in a real terminal: any size, and a Proxy that stops, ends, and comes back."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cacheroute.runtime.proxy_process import an_environment
from tests.cli.live_proxy import live_proxy
from tests.support.tmux import Pane, needs_tmux

pytestmark = needs_tmux

KEY_S, RETURN_S = 0.1, 5.0
"""What the case asks for."""
SLACK = 10
"""How much longer a machine may take that others use too; tmux takes some of it for itself."""


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    with ExitStack() as held:
        taken = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in taken]


class Router:
    """A Proxy in a process of its own, at ports that stay the same."""

    def __init__(self, folder: Path) -> None:
        self.port, self.control = free_ports(2)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its control plane."""
        return f"http://127.0.0.1:{self.control}"

    def start(self, instance_port: int) -> None:
        """Start it with one Instance."""
        sets = {"proxy.port": self.port, "control.port": self.control, "state_dir": self._folder}
        words = [f"--set={key}={value}" for key, value in sets.items()]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "cacheroute", *words,
             f"--instance=http://127.0.0.1:{instance_port}"],
            env=an_environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def end(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def router(tmp_path: Path) -> Iterator[Router]:
    """Run a Proxy."""
    found = Router(tmp_path)
    found.start(9401)
    yield found
    found.end()


def console_of(url: str, folder: Path) -> Pane:
    words = f"{sys.executable} -P -m cacheroute_tui --theme=dark --screen=instances"
    return Pane(folder / "tmux", f"{words} --proxy-url={url} --timeout=1; echo left with $?; cat")


@pytest.fixture
def pane(router: Router, tmp_path: Path) -> Iterator[Pane]:
    """Open the console of that Proxy in a terminal."""
    found = console_of(router.url, tmp_path)
    yield found
    found.end()


def took_s(pane: Pane, key: str, wanted: str) -> float:
    """Press a key; returns how long it took until this was seen."""
    began_s = time.monotonic()
    pane.keys(key)
    pane.until(wanted)
    return time.monotonic() - began_s


def answers_keys(pane: Pane) -> None:
    """Open and close a dialog, each in time."""
    assert took_s(pane, "s", "sort Instances by") <= KEY_S * SLACK
    pane.keys("Escape")
    pane.until_gone("sort Instances by")


def test_c109_a_proxy_that_stands_still_ends_and_comes_back_never_holds_up_the_console(
    router: Router, pane: Pane
) -> None:
    pane.until("LIVE", "9401")
    answers_keys(pane)

    router.signal(signal.SIGSTOP)
    answers_keys(pane)
    text = pane.until("✕ LOST", "tries now")
    assert "9401" in text, "what was seen stays"
    answers_keys(pane)
    router.signal(signal.SIGCONT)
    began_s = time.monotonic()
    pane.until("● LIVE")
    assert time.monotonic() - began_s <= RETURN_S * 2

    router.end()
    pane.until("✕ LOST", "tries now")
    answers_keys(pane)
    began_s = time.monotonic()
    router.start(9402)
    text = pane.until("● LIVE", "9402", " 1 inst ")
    # It needs some seconds before it listens.
    assert time.monotonic() - began_s <= RETURN_S * 4
    assert not [line for line in text.splitlines() if "9401" in line and "alive" in line]

    router.end()
    pane.until("✕ LOST")
    pane.keys("q")
    pane.until("left with 0")


def test_c109_a_loss_is_told_while_it_is_paused_and_ctrl_c_leaves(
    router: Router, pane: Pane
) -> None:
    pane.until("LIVE", "9401")
    pane.keys("p")
    pane.until("PAUSED", "p goes on")
    router.end()
    text = pane.until("✕ LOST", "p goes on")
    assert "9401" in text
    pane.keys("C-q")
    pane.until("q leaves")
    pane.keys("C-c")
    pane.until("left with 130")


def test_c106_any_size_is_a_line_and_comes_back(tmp_path: Path) -> None:
    with live_proxy() as proxy:
        proxy.register("inst-1", "inst-2")
        pane = console_of(proxy.url, tmp_path)
        try:
            pane.until("LIVE", "inst-1")
            pane.keys("Down")
            whole = pane.until("> ● inst-2").splitlines()[4:6]
            for size in ((40, 10), (20, 5), (10, 3), (2, 1)):
                pane.resize(*size)
                pane.until_gone("inst-1")
            pane.resize(40, 10)
            lines = pane.until("needs 60x16, is 40x10", "q Quit").splitlines()
            assert len([line for line in lines if line.strip()]) == 3
            pane.resize(80, 24)
            text = pane.until("2INST", "inst-1", "> ● inst-2", "Quit").splitlines()
            assert [line[:30] for line in text[4:6]] == [line[:30] for line in whole]
            pane.keys("s")
            pane.until("sort Instances by")
            pane.resize(20, 5)
            pane.until("needs 60x16, is 20x5")
            pane.resize(80, 24)
            pane.until("sort Instances by")
            pane.keys("Escape")
            pane.until_gone("sort Instances by")
            pane.keys("q")
            pane.until("left with 0")
        finally:
            pane.end()
