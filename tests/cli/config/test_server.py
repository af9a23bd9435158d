"""The settings of a Proxy are what its own program says they are."""

from pathlib import Path

import pytest

from cacheroute_cli.config import server
from cacheroute_cli.config.server import BadSettings, NoAnswer, ask_for_settings
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.launch import launch_proxy
from tests.cli.config.conftest import Home


@pytest.mark.usefixtures("home")
def test_each_setting_has_its_value_and_who_gave_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXY_CP_PORT", "8102")

    rows = {row.key: row for row in ask_for_settings(None, ["proxy.port=8101"])}

    assert (rows["proxy.port"].value, rows["proxy.port"].origin) == ("8101", "--set")
    assert (rows["control.port"].value, rows["control.port"].origin) == ("8102", "PROXY_CP_PORT")
    assert rows["proxy.host"].origin == "default"


def test_what_is_wrong_is_told_line_by_line(home: Home) -> None:
    path = home.root / "gw.yaml"
    path.write_text("proxy: {prt: 1}\n")

    with pytest.raises(BadSettings) as raised:
        ask_for_settings(path, ["strategy.name=random"])

    lines = raised.value.message.splitlines()
    assert [line for line in lines if "did you mean" in line and "gw.yaml:1" in line]
    assert [line for line in lines if "strategy.name" in line]
    assert raised.value.exit == Exit.USAGE


def test_a_file_that_is_none_is_told(home: Home) -> None:
    with pytest.raises(BadSettings, match="none"):
        ask_for_settings(home.root / "none.yaml", [])


def test_a_warning_goes_to_whoever_watches(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    path = home.root / "gw.yaml"
    path.write_text("batching: {enabled: true}\n")

    ask_for_settings(path, [])

    assert "no effect" in capsys.readouterr().err


@pytest.mark.usefixtures("home")
def test_another_program_is_not_understood(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho hello\n")
    other.chmod(0o755)
    from dataclasses import replace

    monkeypatch.setattr(
        server, "launch_proxy", lambda o, e: replace(launch_proxy(o, e), argv=(str(other),))
    )

    with pytest.raises(NoAnswer, match="in another way"):
        ask_for_settings(None, [])
