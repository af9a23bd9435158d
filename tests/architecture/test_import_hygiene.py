"""What a process has loaded once something is imported: each time in a process of its own."""

import json
import subprocess
import sys

import pytest

WEB = {"fastapi", "starlette", "uvicorn"}
TUI = {"textual"}
CLIENT = {"httpx"}
LOOP = {"asyncio", "uvloop"}

IMPORT_ALL = """
import importlib, pkgutil
def all_of(package):
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    for name in (module.name for module in found if not module.name.endswith("__main__")):
        importlib.import_module(name)
"""


def loaded_by(code: str) -> set[str]:
    """Run code in a new interpreter and return the top-level names of what it has loaded."""
    listing = "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + listing],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize("package", ["core", "formats"])
def test_what_is_pure_loads_no_event_loop_and_no_web(package: str) -> None:
    loaded = loaded_by(f"{IMPORT_ALL}\nimport cacheroute.{package} as p\nall_of(p)")

    assert "cacheroute" in loaded
    assert loaded & (LOOP | WEB | TUI | CLIENT | {"pydantic", "logging"}) == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_load_no_toolkit(arguments: list[str]) -> None:
    loaded = loaded_by(f"from cacheroute_cli.main import run\nassert run({arguments}) == 0")

    assert "cacheroute_cli" in loaded
    assert loaded & (WEB | TUI | CLIENT) == set()


def test_no_command_loads_the_web_framework_or_the_tui() -> None:
    loaded = loaded_by(f"{IMPORT_ALL}\nimport cacheroute_cli as p\nall_of(p)")

    assert loaded & (WEB | TUI) == set()


@pytest.mark.parametrize("program", ["agent", "client", "demo"])
def test_programs_beside_the_proxy_load_none_of_it(program: str) -> None:
    code = f"{IMPORT_ALL}\nimport cacheroute.{program} as p\nall_of(p)\nimport sys"
    rooms = ("planes", "upstream", "runtime", "stores")
    check = f"\nassert not {{'cacheroute.' + room for room in {rooms}}} & set(sys.modules)"

    assert loaded_by(code + check) & (WEB | TUI) == set()
