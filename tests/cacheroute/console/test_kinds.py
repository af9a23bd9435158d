"""Every list has rows, columns and a name of its own."""

import subprocess
import sys

import pytest

from cacheroute.console.columns import Kind
from cacheroute.console.kinds import KINDS


def test_kinds_are_named_after_their_commands() -> None:
    assert all(kind.name == name for name, kind in KINDS.items())


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_kind_shows_something_by_default(kind: Kind[object]) -> None:
    assert kind.usual
    assert any(column.rank == 0 for column in kind.usual)


def test_only_what_is_asked_for_is_loaded() -> None:
    code = (
        "import sys\n"
        "from cacheroute.console.kinds import KINDS\n"
        "KINDS['loads']\n"
        "print(*(name for name in sys.modules if name.startswith('cacheroute.console.rows.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["cacheroute.console.rows.loads"]


def test_a_name_that_no_list_has_is_no_kind() -> None:
    assert "nothing" not in KINDS
    assert len(KINDS) == len(list(KINDS))


def test_the_console_loads_no_toolkit_no_client_and_nothing_of_the_proxy() -> None:
    code = (
        "import importlib, pkgutil, sys\n"
        "import cacheroute.console as console\n"
        "for module in pkgutil.walk_packages(console.__path__, 'cacheroute.console.'):\n"
        "    importlib.import_module(module.name)\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    loaded = set(done.stdout.split())

    assert {name.partition(".")[0] for name in loaded} & {
        "textual", "typer", "rich", "httpx", "fastapi",
    } == set()  # fmt: skip
    ours = {name for name in loaded if name.startswith("cacheroute.")}
    assert {name.split(".")[1] for name in ours} <= {"console", "wire", "core"}
    # Of the core, what a moment is and what nodes are called, and nothing that decides.
    of_core = {name for name in ours if ".core" in name}
    assert of_core <= {"cacheroute.core", "cacheroute.core.clock", "cacheroute.core.node_names"}
