"""`cacheroute doctor`: one row for each thing, and 6 when something is bad."""

from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies
from tests.cli.schemas.shapes import flaws_of


def test_a_proxy_that_was_named_and_is_not_there_is_bad(cli: Cli) -> None:
    said = cli("doctor", "--proxy-url", "127.0.0.1:1")

    assert said.code == Exit.BAD_ANSWER
    assert "proxy     bad   cannot reach the control plane at http://127.0.0.1:1" in said.out
    assert said.err == ""


def test_every_check_is_in_the_document(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        document = cli("doctor", "--proxy-url", url, "-o", "json").document

    assert flaws_of(document) == []
    names = [check["name"] for check in document["checks"]]
    assert list(dict.fromkeys(names)) == [
        "config", "proxy", "version", "clock", "terminal", "state", "orphans", "stale", "stack",
        "ports", "files", "programs",
    ]  # fmt: skip
    # The canned control plane has a clock of long ago.
    clock = next(check for check in document["checks"] if check["name"] == "clock")
    assert (clock["verdict"], document["ok"]) == ("bad", False)
    assert "behind ours" in clock["sentence"]


def test_a_broken_configuration_is_examined_and_not_fallen_over(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "config" / "cacheroute" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("timout = 1\n")

    said = cli("doctor")

    assert said.code == Exit.BAD_ANSWER
    assert "config    bad" in said.out
    assert "did you mean timeout" in said.out
    assert "ports" in said.out
