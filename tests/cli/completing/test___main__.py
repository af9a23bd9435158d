"""What a shell runs at each press of the tab key: quick, silent, and without a client."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cacheroute_cli.completing.__main__ import main
from tests.cli.supervisor.children import an_environment


def test_the_words_come_line_by_line(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fish", "cacheroute versi"]) == 0
    assert capsys.readouterr().out == "values\nversion\tPrint the version.\n"
    assert main(["zsh", "cacheroute", "versi"]) == 0
    assert capsys.readouterr().out == "values\nversion:Print the version.\n"
    assert main(["bash", ":", "cacheroute versi"]) == 0
    assert capsys.readouterr().out == "values\nversion\n"
    assert (state / "completion" / "commands.json").exists()


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("arguments", [[], ["tcsh", "x"], ["bash", "x"], ["zsh"]])
def test_a_shell_that_asks_in_another_way_gets_nothing(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().out == ""


def test_nothing_is_ever_said_on_stderr(state: Path) -> None:
    state.parent.mkdir(exist_ok=True)
    state.write_text("in the way")
    (state.parent / "config").write_text("in the way")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cacheroute_cli.completing", "fish", "cacheroute -c "],
        env=an_environment(
            CACHEROUTE_STATE_DIR=str(state), XDG_CONFIG_HOME=str(state.parent / "config")
        ),
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, done.stdout, done.stderr) == (0, "values\n", "")


def test_a_press_of_the_tab_key_loads_no_client_and_no_toolkit(state: Path) -> None:
    assert main(["fish", "cacheroute drain "]) == 0
    program = (
        "import json, sys\n"
        "from cacheroute_cli.completing.__main__ import main\n"
        "main(['fish', 'cacheroute drain '])\n"
        "print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=an_environment(CACHEROUTE_STATE_DIR=str(state)),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(json.loads(done.stdout.splitlines()[-1]))

    heavy = {"typer", "click", "httpx", "pydantic", "rich", "ruamel", "asyncio", "msgspec"}
    assert loaded & heavy == set()
