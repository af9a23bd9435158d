"""What a command loads before it does anything, and what that costs beside an interpreter."""

from pathlib import Path

import pytest

from tests.cli.test_cpu import LOOP, cpu_s
from tests.cli.test_main import modules_after

HEAVY = {"httpx", "pydantic", "rich", "ruamel", "textual", "fastapi", "uvicorn", "asyncio"}
TAB = ["-P", "-m", "cacheroute_cli.completing", "bash", " :=", "cacheroute drain "]
OFFLINE = [
    ("--help",),
    ("--version",),
    ("version",),
    ("help", "status"),
    ("context", "list"),
    ("context", "show", "lab"),
    ("context", "add", "lab", "--proxy-url", "127.0.0.1:1"),
    ("context", "use", "lab"),
    ("context", "rm", "lab"),
    ("config", "show", "--origin"),
    ("config", "path"),
    ("config", "validate"),
    ("config", "schema"),
    ("completion", "bash"),
]


@pytest.mark.parametrize("arguments", OFFLINE, ids=" ".join)
def test_what_asks_no_proxy_loads_no_client_and_no_toolkit(
    tmp_path: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config.toml"
    file.write_text('contexts.lab = { proxy_url = "http://127.0.0.1:1" }\n')

    loaded = modules_after("--config", str(file), *arguments, state=tmp_path)

    assert "cacheroute_cli" in loaded
    assert loaded & HEAVY == set()


def test_the_yaml_reader_is_loaded_for_a_console_block_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stack = tmp_path / "stack.yaml"

    stack.write_text("stack: demo\nproxy: {port: 8001}\n")
    assert "ruamel" not in modules_after("config", "show", state=tmp_path)
    stack.write_text("stack: demo\nconsole: {timeout: 3}\n")
    assert "ruamel" in modules_after("config", "show", state=tmp_path)


def test_the_toml_reader_is_loaded_for_a_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    monkeypatch.setattr(
        "tests.cli.test_main.an_environment",
        lambda **more: {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path),
                        "XDG_CONFIG_HOME": str(tmp_path / "config"), **more},
    )  # fmt: skip

    assert "tomllib" not in modules_after("config", "show", state=tmp_path)
    file.parent.mkdir(parents=True)
    file.write_text("timeout = 3\n")
    assert "tomllib" in modules_after("config", "show", state=tmp_path)


def test_a_press_of_the_tab_key_and_a_list_of_contexts_cost_less_than_help_may(
    tmp_path: Path,
) -> None:
    # On the machine the bars are from, the loop takes 115 ms, and these may take 100 and 150.
    loop_s = cpu_s(LOOP, tmp_path)

    assert cpu_s(TAB, tmp_path) < 100 / 115 * 1.5 * loop_s
    assert cpu_s(["-m", "cacheroute_cli", "context", "list"], tmp_path) < 150 / 115 * 1.5 * loop_s
