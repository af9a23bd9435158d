"""C094, C095: a slip in a file is one line that helps, and whoever is nearest has the last word.

Real processes: what counts is what somebody at a terminal reads, and the exit code.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Timer

import pytest

from cacheroute.settings.names import FLAT_NAMES

BOUND_S = 60.0
"""Longest life of a process, on a busy machine too."""
GENERIC = {"PORT": "8301", "HOST": "0.0.0.0", "DEBUG": "true"}
"""What shells and hosting platforms set for purposes of their own."""
HEARD = ("CACHEROUTE_", "PROXY_", "SCHEDULER_", "CONFIG_PATH", "NO_COLOR", "FORCE_COLOR")
"""How the names begin that somebody's shell may have set, and that would change an answer."""
UNSET = "C094_UNSET_TOKEN"

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which nobody has said anything to us."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(HEARD)}
    for name in (*GENERIC, *FLAT_NAMES, UNSET):
        kept.pop(name, None)
    return kept | {
        "CACHEROUTE_STATE_DIR": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CONFIG_DIRS": str(tmp_path / "system"),
    }


@pytest.fixture
def run(environ: dict[str, str], tmp_path: Path) -> Run:
    """Run a module to its end, in a folder where nothing else lies."""

    def call(
        module: str, *arguments: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=environ | dict(variables or {}),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )

    return call


@pytest.fixture
def server_file(tmp_path: Path) -> Path:
    return tmp_path / "gw.yaml"


@pytest.fixture
def console_file(tmp_path: Path) -> Path:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


SERVER_SLIPS = {
    "a misspelt breaker key": (
        "pool:\n  ejection:\n    failurs: 5\n",
        "3: pool.ejection.failurs: unknown key; did you mean pool.ejection.failures?",
    ),
    "a misspelt breaker section": (
        "pool:\n  ejecton:\n    failures: 5\n",
        "2: pool.ejecton: unknown key; did you mean pool.ejection?",
    ),
    "a word for a number": (
        "proxy:\n  port: eighty\n",
        "2: proxy.port: must be a whole number, not 'eighty'",
    ),
    "a tab for indentation": (
        "proxy:\n\tport: 8001\n",
        "2: is not valid YAML: a tab stands where indentation or a value begins; "
        "indent with spaces",
    ),
    "a tab after spaces": (
        "proxy:\n  port: 8001\n\thost: localhost\n",
        "3: is not valid YAML: a tab stands where indentation or a value begins; "
        "indent with spaces",
    ),
    "a key twice": (
        "proxy:\n  port: 8001\n  port: 8002\n",
        "3: proxy.port: given twice, first on line 2",
    ),
    "a section twice": (
        "proxy:\n  port: 8001\nproxy:\n  host: localhost\n",
        "3: proxy: given twice, first on line 1",
    ),
    "an unset variable": (
        f"control:\n  token: env:{UNSET}\n",
        f"2: control.token: the environment variable {UNSET} is not set",
    ),
    "a negative time-to-live": (
        "pool:\n  ttl_s: -5\n",
        "2: pool.ttl_s: must be a positive, finite number, not -5.0",
    ),
    "a negative time-to-live with its unit": (
        "pool:\n  ttl_s: -5s\n",
        "2: pool.ttl_s: must not be negative, as '-5s' is",
    ),
}
"""What somebody wrote, and the line they get, from the line number on."""


@pytest.mark.parametrize(("text", "said"), SERVER_SLIPS.values(), ids=SERVER_SLIPS)
def test_c094_a_slip_in_the_settings_is_one_line_and_exit_two(
    run: Run, server_file: Path, text: str, said: str
) -> None:
    server_file.write_text(text)

    ended = run("cacheroute", "--check", "--config", str(server_file))

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"cacheroute: error: {server_file}:{said}\n"


def test_c094_several_slips_are_a_line_each_in_the_order_of_the_file(
    run: Run, server_file: Path
) -> None:
    server_file.write_text(
        "pool:\n  ejection:\n    failurs: 5\n  ttl_s: -1\nproxy:\n  port: eighty\n  port: 8001\n"
    )

    ended = run("cacheroute", "--check", "--config", str(server_file))

    assert ended.returncode == 2
    places = [line.split(": ")[2:4] for line in ended.stderr.splitlines()]
    assert places == [
        [f"{server_file}:3", "pool.ejection.failurs"],
        [f"{server_file}:4", "pool.ttl_s"],
        [f"{server_file}:6", "proxy.port"],
        [f"{server_file}:7", "proxy.port"],
    ]


def test_c094_a_start_with_a_slip_ends_as_the_check_does(run: Run, server_file: Path) -> None:
    text, said = SERVER_SLIPS["a misspelt breaker key"]
    server_file.write_text(text)

    ended = run("cacheroute", "--config", str(server_file))

    assert ended.returncode == 2
    assert ended.stderr == f"cacheroute: error: {server_file}:{said}\n"


def test_c094_the_check_starts_nothing(run: Run, server_file: Path, tmp_path: Path) -> None:
    server_file.write_text("proxy:\n  port: 8001\n")

    ended = run("cacheroute", "--check", "--config", str(server_file))

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "The settings are good.\n"
    assert not (tmp_path / "state").exists()


EMPTY = {"nothing at all": "", "a comment alone": "# later\n", "a bare document": "---\n"}


@pytest.mark.parametrize("text", EMPTY.values(), ids=EMPTY)
def test_c094_an_empty_file_is_the_defaults_and_says_so(
    run: Run, server_file: Path, text: str
) -> None:
    server_file.write_text(text)

    checked = run("cacheroute", "--check", "--config", str(server_file))
    with_it = run("cacheroute", "--print", "--config", str(server_file))

    said = f"cacheroute: warning: {server_file} is empty: the defaults are used\n"
    assert (checked.returncode, checked.stderr) == (0, said)
    assert (with_it.returncode, with_it.stderr) == (0, said)
    assert with_it.stdout == run("cacheroute", "--print").stdout


def test_c094_a_proxy_starts_with_an_empty_file_and_says_so(
    environ: dict[str, str], server_file: Path, tmp_path: Path
) -> None:
    server_file.write_text("")
    ports = ("--set", "proxy.port=0", "--set", "control.port=0")
    command = [sys.executable, "-m", "cacheroute", "--config", str(server_file), *ports]
    said: list[str] = []

    with subprocess.Popen(
        command, env=environ, cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        last_resort = Timer(BOUND_S, process.kill)
        last_resort.start()
        try:
            assert process.stderr is not None
            for line in process.stderr:
                said.append(line)
                if line.startswith("service http://"):
                    process.send_signal(signal.SIGTERM)
            code = process.wait()
        finally:
            last_resort.cancel()

    assert code == 0, said
    assert any(f"{server_file} is empty: the defaults are used" in line for line in said)
    assert not any("Traceback" in line for line in said)


CONSOLE_SLIPS = {
    "a misspelt key": (
        "[tui]\nmose = true\n",
        "2: tui.mose is not known; did you mean tui.mouse?",
    ),
    "a word for a number": (
        "timeout = 'fast'\n",
        "1: timeout must be a number, not 'fast'",
    ),
    "a key twice": (
        "timeout = 3\ntimeout = 4\n",
        "2: timeout is given twice, first on line 1",
    ),
    "a negative time": (
        "timeout = -3\n",
        "1: timeout must be between 0.001 and 86400, not -3",
    ),
    "a key without a value": (
        "[tui]\n\tmouse\n",
        "2: is not valid TOML: expected '=' after a key in a key/value pair",
    ),
}


@pytest.mark.parametrize(("text", "said"), CONSOLE_SLIPS.values(), ids=CONSOLE_SLIPS)
def test_c094_a_slip_in_the_console_configuration_is_one_line_and_exit_two(
    run: Run, console_file: Path, text: str, said: str
) -> None:
    console_file.write_text(text)

    ended = run("cacheroute_cli", "config", "validate")

    assert (ended.returncode, ended.stdout) == (2, "")
    problem, *hints = ended.stderr.splitlines()
    assert problem == f"cacheroute: error: {console_file}:{said}"
    assert all(line.startswith("  hint: ") for line in hints)


@pytest.mark.parametrize(
    ("text", "more"),
    [("", " is empty: it changes nothing"), ("[tui]\n\tmouse = true\n", "")],
    ids=["nothing", "tabs"],
)
def test_c094_what_toml_allows_is_good_in_the_console_configuration(
    run: Run, console_file: Path, text: str, more: str
) -> None:
    console_file.write_text(text)

    ended = run("cacheroute_cli", "config", "validate")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"{console_file}{more}\nthe configuration is good\n"


FILE_SAYS = "proxy:\n  port: 8001\nqueues:\n  wait_at_cap: true\n"
PREFIXED = {"CACHEROUTE_PROXY__PORT": "8101"}
SET_PORT = ("--set", "proxy.port=8201")
SERVER_WINNERS: dict[str, tuple[bool, Mapping[str, str], tuple[str, ...], str, str]] = {
    "flag": (True, PREFIXED, SET_PORT, "8201", "--set"),
    "flag without file": (False, PREFIXED, SET_PORT, "8201", "--set"),
    "flag without variable": (True, {}, SET_PORT, "8201", "--set"),
    "variable": (True, PREFIXED, (), "8101", "CACHEROUTE_PROXY__PORT"),
    "published variable": (True, {"PROXY_DP_PORT": "8101"}, (), "8101", "PROXY_DP_PORT"),
    "variable over the published one": (
        True,
        {"PROXY_DP_PORT": "8102", **PREFIXED},
        (),
        "8101",
        "CACHEROUTE_PROXY__PORT",
    ),
    "file": (True, {}, (), "8001", "{file}:2"),
    "default": (False, {}, (), "8001", "default"),
}
"""Whether there is a file, the variables, the flags; then the port that holds and who said so."""


def settings_of(ended: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, str]]:
    """Return each printed setting's value and origin."""
    assert (ended.returncode, ended.stderr) == (0, "")
    return {row["key"]: (row["value"], row["origin"]) for row in json.loads(ended.stdout)["items"]}


@pytest.mark.parametrize(
    ("has_file", "variables", "flags", "value", "origin"),
    SERVER_WINNERS.values(),
    ids=SERVER_WINNERS,
)
def test_c095_the_port_is_the_flags_then_the_variables_then_the_files(
    run: Run,
    server_file: Path,
    has_file: bool,
    variables: Mapping[str, str],
    flags: tuple[str, ...],
    value: str,
    origin: str,
) -> None:
    server_file.write_text(FILE_SAYS)
    file = ("--config", str(server_file)) if has_file else ()

    settings = settings_of(
        run("cacheroute", "--print", *file, *flags, variables=GENERIC | dict(variables))
    )

    assert settings["proxy.port"] == (value, origin.format(file=server_file))
    assert settings["proxy.host"] == ("127.0.0.1", "default")
    assert settings["log_level"] == ("info", "default")


@pytest.mark.parametrize("name", GENERIC)
def test_c095_a_generic_variable_changes_nothing(run: Run, name: str) -> None:
    alone = run("cacheroute", "--print", variables={name: GENERIC[name]})

    assert settings_of(alone) == settings_of(run("cacheroute", "--print"))


@pytest.mark.parametrize("off", ["false", "off", "no", "0"])
def test_c095_a_flag_switches_off_what_the_file_switched_on(
    run: Run, server_file: Path, off: str
) -> None:
    server_file.write_text(FILE_SAYS)
    given = ("--print", "--config", str(server_file))
    flag = ("--set", f"queues.wait_at_cap={off}")
    variables = {"CACHEROUTE_QUEUES__WAIT_AT_CAP": "true"}

    before = settings_of(run("cacheroute", *given))
    after = settings_of(run("cacheroute", *given, *flag, variables=variables))

    assert before["queues.wait_at_cap"] == ("true", f"{server_file}:4")
    assert after["queues.wait_at_cap"] == ("false", "--set")


URL = "http://127.0.0.1:"
CONSOLE_WINNERS: dict[str, tuple[str, Mapping[str, str], tuple[str, ...], str, str]] = {
    "flag": (
        f"proxy_url = '{URL}8001'\n",
        {"CACHEROUTE_PROXY_URL": f"{URL}8101"},
        ("--proxy-url", f"{URL}8201"),
        f"{URL}8201",
        "--proxy-url",
    ),
    "variable": (
        f"proxy_url = '{URL}8001'\n",
        {"CACHEROUTE_PROXY_URL": f"{URL}8101"},
        (),
        f"{URL}8101",
        "CACHEROUTE_PROXY_URL",
    ),
    "file": (f"proxy_url = '{URL}8001'\n", {}, (), f"{URL}8001", "{file}:1"),
    "default": ("# nothing yet\n", {}, (), f"{URL}8002", "default"),
}


@pytest.mark.parametrize(
    ("text", "variables", "flags", "value", "origin"),
    CONSOLE_WINNERS.values(),
    ids=CONSOLE_WINNERS,
)
def test_c095_the_console_ranks_its_sources_alike_and_names_them(
    run: Run,
    console_file: Path,
    text: str,
    variables: Mapping[str, str],
    flags: tuple[str, ...],
    value: str,
    origin: str,
) -> None:
    console_file.write_text(text)

    command = (*flags, "config", "show", "--origin")
    ended = run("cacheroute_cli", *command, variables=GENERIC | dict(variables))

    assert (ended.returncode, ended.stderr) == (0, "")
    rows = [line.split("\t") for line in ended.stdout.splitlines()]
    origins = {key: (shown, by) for key, shown, by in rows}
    assert origins.pop("proxy_url") == (value, origin.format(file=console_file))
    assert {by for _, by in origins.values()} == {"default"}
