"""The command line of the Proxy process."""

import json
from pathlib import Path

import pytest

from cacheroute.__main__ import main, parse
from cacheroute.member.complaint import ERRORS_VARIABLE
from tests.cacheroute.runtime.proxy_process import ran

GOOD = "--set=proxy.port=0"


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing but the command line say anything."""
    for name in ("CONFIG_PATH", "CACHEROUTE_CONFIG", "CACHEROUTE_PROXY__PORT"):
        monkeypatch.delenv(name, raising=False)


def test_flags_may_be_repeated_and_all_be_missing() -> None:
    given = parse(["--set", "a=1", "--set=b=2", "--instance=x:1", "--instance", "y:2"])
    assert given.overrides == ["a=1", "b=2"]
    assert given.instances == ["x:1", "y:2"]
    bare = parse([])
    assert (bare.config, bare.overrides, bare.instances, bare.check) == (None, [], [], False)


def test_good_settings_are_checked_and_nothing_is_started(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--check", GOOD, "--instance", "http://127.0.0.1:9/base"]) == 0
    said = capsys.readouterr()
    assert said.out == "The settings are good.\n"
    assert said.err == ""


def test_the_settings_in_force_are_printed_with_who_gave_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_PROXY__PORT", "8101")
    assert main(["--print", "--set=strategy.name=least_load"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "cacheroute.effective_settings/1"
    rows = {row["key"]: (row["value"], row["origin"]) for row in document["items"]}
    assert rows["proxy.port"] == ("8101", "CACHEROUTE_PROXY__PORT")
    assert rows["strategy.name"] == ("least_load", "--set")
    assert rows["control.port"] == ("8002", "default")


def test_what_somebody_should_know_is_told_by_the_check(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "gw.yaml"
    config.write_text("batching:\n  enabled: true\n")
    assert main(["--check", "--config", str(config)]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("cacheroute: warning: ")
    assert "batching" in said.err
    assert "no effect" in said.err


def test_every_problem_is_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--set=proxy.port=99999", "--set=strategy.name=random", "--set=proxi.port=1"]
    assert main(["--check", *arguments]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("cacheroute: error: ") for line in lines)
    for key in ("proxy.port", "strategy.name", "proxi"):
        assert [line for line in lines if key in line]


def test_a_program_reads_all_problems_in_one_document(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ERRORS_VARIABLE, "json")
    assert main(["--check", "--set=proxy.port=99999", "--set=proxi.port=1"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert (error["code"], error["exit"]) == ("process.bad_config", 2)
    assert len(error["message"].splitlines()) == 2
    with pytest.raises(SystemExit):
        parse(["--prot=1"])
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "usage"


def test_a_file_that_is_not_there_is_a_problem(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["--check", "--config", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["not a url", "ftp://x:1", "http://x:99999", "x:1,y"])
def test_an_instance_that_is_no_address_is_a_problem(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check", GOOD, "--instance", url]) == 2
    assert capsys.readouterr().err.startswith("cacheroute: error: ")


def test_instances_of_the_command_line_outrank_those_of_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "gw.yaml"
    config.write_text("pool:\n  instances: ['this is no address']\n")
    assert main(["--check", "--config", str(config)]) == 2
    assert main(["--check", "--config", str(config), "--instance", "10.0.0.1:8000"]) == 0
    assert capsys.readouterr().out == "The settings are good.\n"


def test_an_unknown_flag_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(["--prot=1"])
    assert caught.value.code == 2
    assert "--prot" in capsys.readouterr().err


async def test_as_a_process_it_checks_and_tells_with_its_exit_code() -> None:
    assert await ran("--check", GOOD) == (0, "The settings are good.\n", "")
    code, out, err = await ran("--set=proxy.port=many")
    assert (code, out) == (2, "")
    assert err.startswith("cacheroute: error: ")
    assert "Traceback" not in err
