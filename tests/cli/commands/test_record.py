"""`cacheroute record`."""

from pathlib import Path

import pytest

from cacheroute.sources.recording import Recording
from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.live_proxy import live_proxy


def test_what_a_proxy_says_is_in_the_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    with live_proxy() as proxy:
        proxy.register("a", "b")
        said = cli(
            "record", "-d", str(path), "--for", "0.5s", "-i", "0.2", "--proxy-url", proxy.url
        )

    assert said.code == Exit.OK
    assert said.out.startswith(f"{path}: 3 looks in ")
    with Recording(path) as recording:
        assert (recording.looks, recording.header.name) == (3, proxy.url)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--for", "long"), "--for: 'long' is not a number"),
        (("--for", "0"), "--for is a time above 0"),
        (("-i", "0.1"), "--interval must be at least 0.2, not 0.1"),
    ],
)
def test_what_makes_no_sense_is_a_wrong_usage(cli: Cli, words: tuple[str, ...], said: str) -> None:
    found = cli("record", *words)

    assert found.code == Exit.USAGE
    assert said in found.err


def test_a_file_that_is_there_is_left_alone(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    path.write_text("mine")

    said = cli("record", "-d", str(path), "--for", "1")

    assert said.code == Exit.FAILED
    assert "name another file with -d" in said.err
    assert path.read_text() == "mine"
