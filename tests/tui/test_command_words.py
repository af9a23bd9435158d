"""Which lines run, and which a console that only looks refuses."""

from collections.abc import Mapping
from typing import Any

import pytest

from cacheroute_cli.completing.tree import build
from cacheroute_tui.command_words import LOOKING, Command, Refusal, judge

_CHANGES = (
    "drain inst-1", "undrain inst-1", "weight inst-1 2", "unregister inst-1",
    "strategy least_load", "up -d", "down", "start proxy", "stop proxy", "restart proxy",
    "scale instance=3", "prune", "proxy start", "proxy stop", "instance start", "instance stop",
    "instance attach http://127.0.0.1:1", "instance run", "agent start", "agent stop",
    "context use x", "context add x http://127.0.0.1:1", "context rm x", "config init",
)  # fmt: skip


@pytest.fixture(scope="module")
def tree() -> Mapping[str, Any]:
    return build()


def _judged(
    line: str,
    tree: Mapping[str, Any],
    *,
    write: bool = False,
    web: bool = False,
    proxy: bool = True,
) -> Command | Refusal:
    return judge(line.split(), tree, may_write=write, is_web=web, has_proxy=proxy)


@pytest.mark.parametrize("line", _CHANGES)
def test_a_console_that_only_looks_refuses_every_change(line: str, tree: Mapping[str, Any]) -> None:
    assert isinstance(_judged(line, tree), Refusal)
    assert isinstance(_judged(f"--quiet {line}", tree), Refusal)
    assert isinstance(_judged(line, tree, write=True), Command)


@pytest.mark.parametrize(
    "line",
    [
        "status --write",
        "-qc status drain inst-1",
        "-c status drain inst-1",
        "--context=status drain inst-1 -y",
        "-ojson drain inst-1",
        "-o status drain inst-1",
        "completion bash --install",
        "strategy -qo json least_load",
        "nonsense",
        "dra",
        "--",
        "-- drain inst-1",
    ],
)
def test_no_order_of_words_gets_a_change_past_it(line: str, tree: Mapping[str, Any]) -> None:
    assert isinstance(_judged(line, tree), Refusal)


@pytest.mark.parametrize(
    "line",
    [
        "status", "instances --all 50", "-o json instances", "show inst-1", "scores --explain",
        "strategy", "strategy -o json", "config show", "context list", "explain drain",
        "help drain", "drain --help", "completion bash", "logs -n 5", "raw /debug/status",
    ],
)  # fmt: skip
def test_what_only_looks_runs(line: str, tree: Mapping[str, Any]) -> None:
    found = _judged(line, tree)

    assert isinstance(found, Command) or line == "drain --help"


def test_every_command_either_looks_or_is_a_change_that_is_refused(tree: Mapping[str, Any]) -> None:
    for name, node in tree["commands"].items():
        for path in [[name]] if not node.get("commands") else [[name, c] for c in node["commands"]]:
            verdict = judge(path, tree, may_write=False, is_web=False, has_proxy=True)
            allowed = LOOKING.get(path[0], frozenset())
            looks = path[0] in LOOKING and (allowed is None or path[1] in allowed)
            looks = looks or path[0] in ("strategy", "completion")
            assert isinstance(verdict, Command) == looks, path


@pytest.mark.parametrize(
    "line", ["repl", "tui", "demo", "config edit", "watch", "up", "proxy start -F"]
)
def test_what_needs_a_terminal_of_its_own_does_not_run_here(
    line: str, tree: Mapping[str, Any]
) -> None:
    found = _judged(line, tree, write=True)

    assert isinstance(found, Refusal)


def test_a_confirmed_line_has_its_yes_behind_the_command(tree: Mapping[str, Any]) -> None:
    found = _judged("--quiet drain inst-1 inst-2 --wait", tree, write=True)

    assert isinstance(found, Command)
    assert found.takes_yes
    assert found.ids == ("inst-1", "inst-2")
    assert found.confirmed() == ("--quiet", "drain", "--yes", "inst-1", "inst-2", "--wait")


def test_who_has_typed_the_yes_is_not_asked(tree: Mapping[str, Any]) -> None:
    found = _judged("drain inst-1 -y", tree, write=True)

    assert isinstance(found, Command)
    assert not found.takes_yes


@pytest.mark.parametrize(
    "line",
    [
        "status --proxy-url http://10.0.0.1",
        "config show --config /etc/x",
        "status -cother",
        "status --context=other",
        "instances -qc x",
    ],
)
def test_a_browser_sends_no_token_elsewhere_and_reads_no_file(
    line: str, tree: Mapping[str, Any]
) -> None:
    assert isinstance(_judged(line, tree), Command)
    assert isinstance(_judged(line, tree, web=True), Refusal)


def test_a_browser_may_filter(tree: Mapping[str, Any]) -> None:
    assert isinstance(_judged("instances -f gpu>80", tree, web=True), Command)


def test_a_recording_cannot_be_asked(tree: Mapping[str, Any]) -> None:
    assert isinstance(_judged("status", tree, proxy=False), Refusal)
    assert isinstance(_judged("explain score", tree, proxy=False), Command)
