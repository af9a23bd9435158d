"""Waiting for a child, no longer than it lives."""

import re
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.ending import end
from cacheroute_cli.supervisor.faults import ChildFailed, ChildHitConflict, NotReady
from cacheroute_cli.supervisor.ready import wait_for_line, wait_until
from cacheroute_cli.supervisor.runner import spawn
from tests.cli.supervisor.children import SLEEPER, a_program


def test_the_line_that_says_ready_is_waited_for(tmp_path: Path) -> None:
    child = spawn(a_program(SLEEPER, tmp_path), stack="s", tethered=True)
    try:
        match = wait_for_line(child, re.compile(r"^(ready)$", re.M), timeout_s=10)
    finally:
        end(child.identity, grace_s=5)
        child.exit_code()

    assert match[1] == "ready"


def test_a_child_that_ends_instead_is_told_by_its_exit(tmp_path: Path) -> None:
    child = spawn(
        a_program("import sys; print('port taken'); sys.exit(5)", tmp_path),
        stack="s",
        tethered=False,
    )

    with pytest.raises(ChildHitConflict, match="port taken"):
        wait_for_line(child, re.compile("ready"), timeout_s=10)


def test_what_never_comes_true_ends_the_wait_and_names_the_log(tmp_path: Path) -> None:
    child = spawn(a_program(SLEEPER, tmp_path), stack="s", tethered=True)
    try:
        with pytest.raises(
            NotReady, match=r"did not say that it is ready within 0\.05 s"
        ) as caught:
            wait_for_line(child, re.compile("never"), timeout_s=0.05)
    finally:
        end(child.identity, grace_s=5)
        child.exit_code()

    assert caught.value.exit == Exit.WAIT_TIMED_OUT
    assert str(tmp_path / "child.log") in (caught.value.hint or "")


def test_any_child_that_ends_ends_the_wait(tmp_path: Path) -> None:
    good = spawn(a_program(SLEEPER, tmp_path, name="good"), stack="s", tethered=True)
    bad = spawn(a_program("raise SystemExit(1)", tmp_path, name="bad"), stack="s", tethered=True)
    try:
        with pytest.raises(ChildFailed, match="bad ended with exit 1"):
            wait_until(lambda: None, what="nothing", children=[good, bad], timeout_s=10)
    finally:
        end(good.identity, grace_s=5)
        good.exit_code()


def test_a_probe_that_knows_at_once_waits_for_nobody() -> None:
    assert wait_until(lambda: 7, what="nothing", children=[], timeout_s=0) == 7
