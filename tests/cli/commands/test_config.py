"""`cacheroute config`: what holds, who said so, and what is wrong."""

import json
import tomllib
from pathlib import Path

import pytest

from cacheroute_cli.config.options import OPTIONS
from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.schemas.shapes import flaws_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    return file


def test_every_value_is_shown_with_its_origin(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("timeout = 3\n")
    monkeypatch.setenv("CACHEROUTE_THEME", "dark")

    lines = cli("config", "show", "--origin").out.splitlines()

    assert f"timeout\t3\t{file}:1" in lines
    assert "tui.theme\tdark\tCACHEROUTE_THEME" in lines
    assert "tui.mouse\ttrue\tdefault" in lines
    assert len(lines) == len(OPTIONS)
    assert "timeout\t3" in cli("config", "show").out.splitlines()


def test_a_flag_outranks_a_variable_and_that_the_file(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("proxy_url = 'http://127.0.0.1:8001'\nascii = true\n")
    for name in ("PORT", "HOST", "DEBUG"):
        monkeypatch.setenv(name, "9")

    def shown(*before: str) -> list[str]:
        lines = cli(*before, "config", "show", "--origin").out.splitlines()
        return next(line for line in lines if line.startswith("proxy_url\t")).split("\t")[1:]

    assert shown() == ["http://127.0.0.1:8001", f"{file}:1"]
    monkeypatch.setenv("CACHEROUTE_PROXY_URL", "127.0.0.1:8101")
    assert shown() == ["http://127.0.0.1:8101", "CACHEROUTE_PROXY_URL"]
    assert shown("--proxy-url", "127.0.0.1:8201") == ["http://127.0.0.1:8201", "--proxy-url"]
    monkeypatch.setenv("CACHEROUTE_ASCII", "off")
    assert "ascii\tfalse\tCACHEROUTE_ASCII" in cli("config", "show", "--origin").out


def test_the_documents_are_as_described(cli: Cli, file: Path) -> None:
    file.write_text("[tui]\ncolumns = ['id']\n")
    documents = [
        cli("config", what, "-o", "json").document
        for what in ("show", "path", "validate", "server")
    ]

    assert [flaw for one in documents for flaw in flaws_of(one)] == []
    values = {row["key"]: row["value"] for row in documents[0]["items"]}
    assert values["tui.columns"] == ["id"]
    assert values["alerts.gpu"] == [75, 95]
    assert values["output"] == "json"
    assert documents[2] == {**documents[2], "ok": True, "files": [str(file)]}


def test_the_places_are_shown_whether_something_is_there(cli: Cli, file: Path) -> None:
    assert cli("config", "path").out.splitlines()[0] == f"user\t{file}\tno"
    file.touch()
    assert cli("config", "path").out.splitlines()[0] == f"user\t{file}\tyes"


def test_a_good_configuration_is_called_good(cli: Cli, file: Path) -> None:
    file.write_text("timeout = 3\n")

    assert cli("config", "validate").out == f"{file}\nthe configuration is good\n"


def test_an_empty_file_is_good_and_told_of(cli: Cli, file: Path) -> None:
    file.touch()

    said = cli("config", "validate")

    assert said.code == Exit.OK
    assert said.out == f"{file} is empty: it changes nothing\nthe configuration is good\n"
    assert cli("config", "validate", "-o", "json").document["empty"] == [str(file)]
    assert cli("config", "show").err == (f"cacheroute: note: {file} is empty: it changes nothing\n")


def test_what_is_wrong_is_a_line_each_and_exit_two(cli: Cli, file: Path) -> None:
    file.write_text("timout = 3\n[tui]\ntheme = 'pink'\n")

    said = cli("config", "validate")

    assert said.code == Exit.USAGE
    assert said.err.splitlines()[:2] == [
        f"cacheroute: error: {file}:1: timout is not known; did you mean timeout?",
        f"  {file}:3: tui.theme must be one of auto, dark, light, ansi, cb, mono, high-contrast, "
        "not 'pink'",
    ]
    error = cli("config", "validate", "-o", "json").error
    assert (error["code"], error["exit"], len(error["problems"])) == ("config.invalid", 2, 2)


def test_no_command_runs_with_a_broken_configuration(cli: Cli, file: Path) -> None:
    file.write_text("timeout = [\n")

    said = cli("status")

    assert said.code == Exit.USAGE
    assert f"{file}:2: is not valid TOML" in said.err
    assert "Traceback" not in said.err
    assert cli("config", "path").code == Exit.OK
    assert cli("version").code == Exit.OK


def test_a_start_is_written_once(cli: Cli, file: Path) -> None:
    said = cli("config", "init")

    assert (said.code, said.out) == (Exit.OK, f"{file}\n")
    assert set(tomllib.loads(file.read_text())) == {"tui", "alerts", "keys"}
    assert cli("config", "init").code == Exit.CONFLICT


def test_the_schema_is_json(cli: Cli) -> None:
    assert json.loads(cli("config", "schema").out)["additionalProperties"] is False


def test_an_edit_that_is_good_is_taken(
    cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("timeout = 3\n")
    monkeypatch.setenv("VISUAL", "sed -i s/3/4/")

    assert cli("config", "edit").code == Exit.OK
    assert file.read_text() == "timeout = 4\n"
    assert cli("config", "edit", "--no-input").code == Exit.USAGE


def test_the_settings_of_a_proxy_are_asked_of_its_program(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_PORT", "8101")
    monkeypatch.setenv("CACHEROUTE_PROXY__PORT", "8301")

    said = cli("config", "server", "--origin", "--set", "proxy.port=8201")

    assert "proxy.port\t8201\t--set" in said.out.splitlines()
    assert cli("config", "server", "--set", "proxy.prt=1").code == Exit.USAGE


def test_what_only_the_console_cannot_use_is_named_by_a_check_alone(cli: Cli, file: Path) -> None:
    file.write_text("[keys]\nthme = 'T'\n")

    said = cli("config", "validate")

    assert said.code == Exit.USAGE
    assert f"{file}:2: keys.thme is not known; did you mean theme?" in said.err
    assert cli("context", "list").code == Exit.OK
