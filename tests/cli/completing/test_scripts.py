"""Real shells complete our command lines; those that are not installed are not asked."""

import shutil
import subprocess
from pathlib import Path

import pytest

from cacheroute_cli.completing import scripts
from cacheroute_cli.completing.seen import remember
from tests.cli.supervisor.children import an_environment

HERE = [name for name in scripts.SHELLS if shutil.which(name)]

_ASK = {
    "bash": """
source {script}
COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}}
_cacheroute
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "zsh": """
compdef() {{ : }}
_files() {{ print -r -- FILES }}
_describe() {{ print -rl -- "${{(@P)2}}" }}
source {script}
words=(${{(z)line::={line!r}}}); [[ $line == *' ' ]] && words+=('')
CURRENT=$#words
_cacheroute
""",
    "fish": """
source {script}
complete -C {line!r}
""",
}


def ask(shell: str, line: str, folder: Path) -> list[str]:
    """Return the words that a real shell offers."""
    script = folder / f"script.{shell}"
    scripts.install(scripts.SHELLS[shell], script)
    quiet = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *quiet, "-c", _ASK[shell].format(script=script, line=line)],
        env=an_environment(
            CACHEROUTE_STATE_DIR=str(folder / "state"), XDG_CONFIG_HOME=str(folder / "config"),
            HOME=str(folder), TERM="dumb",
        ),
        capture_output=True, text=True, check=False, cwd=folder, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    return [row.partition("\t")[0] for row in done.stdout.splitlines() if row]


@pytest.mark.parametrize("shell", HERE)
def test_a_real_shell_completes_commands_options_and_live_names(shell: str, state: Path) -> None:
    remember("http://127.0.0.1:8002", instances=["hp_127.0.0.1:9001", "hp_127.0.0.1:9002"])
    (state.parent / "stack.yaml").touch()
    (state.parent / "config" / "cacheroute").mkdir(parents=True)
    (state.parent / "config" / "cacheroute" / "config.toml").write_text(
        'contexts.lab = { proxy_url = "http://127.0.0.1:1" }\n'
    )

    def words(line: str) -> list[str]:
        return [word.partition(":")[0] for word in ask(shell, line, state.parent)]

    assert words("cacheroute versi") == ["version"]
    assert words("cacheroute context ") in (
        ["list", "show", "use", "add", "rm"], ["add", "list", "rm", "show", "use"],
    )  # fmt: skip
    assert words("cacheroute status --che") == ["--check"]
    assert words("cacheroute -c ") == ["lab"]
    names = ask(shell, "cacheroute drain hp_127", state.parent)
    assert [name.replace("\\", "") for name in names] == ["hp_127.0.0.1:9001", "hp_127.0.0.1:9002"]


@pytest.mark.parametrize("shell", HERE)
def test_a_real_shell_looks_for_files_itself(shell: str, state: Path) -> None:
    (state.parent / "stack.yaml").touch()

    found = ask(shell, "cacheroute up -f sta", state.parent)

    # Outside of a real press of the key, bash only says that it would look.
    assert found == {"bash": [], "zsh": ["FILES"], "fish": ["stack.yaml", "state/"]}[shell]


def test_bash_is_here_to_be_asked() -> None:
    assert "bash" in HERE


@pytest.mark.parametrize("shell", scripts.SHELLS)
def test_a_script_asks_the_interpreter_that_has_us(shell: str) -> None:
    text = scripts.script(scripts.SHELLS[shell])

    assert "-P -m cacheroute_cli.completing" in text
    assert "@ASK@" not in text


def test_each_shell_looks_in_a_place_of_its_own(tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}
    places = {name: str(scripts.place_for(one, environ)) for name, one in scripts.SHELLS.items()}

    assert places == {
        "bash": "/d/bash-completion/completions/cacheroute",
        "zsh": "/d/zsh/site-functions/_cacheroute",
        "fish": "/c/fish/completions/cacheroute.fish",
    }
    assert scripts.place_for(scripts.SHELLS["fish"], {}) == (
        Path.home() / ".config/fish/completions/cacheroute.fish"
    )
