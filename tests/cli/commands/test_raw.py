"""`cacheroute raw`: what a page says, as it says it."""

import json

from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.client.canned import a_peer_saying, answer
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, replies


def test_json_is_one_line_for_a_pipe_and_indented_for_people(cli: Cli) -> None:
    with a_control_plane(replies()) as url:
        pipe = cli("raw", "/healthz", "--proxy-url", url)
        people = cli("raw", "/healthz", "--proxy-url", url, "-o", "table")

    assert pipe.out == '{"ok": true, "ttl_s": 30}\n'
    assert json.loads(people.out) == json.loads(pipe.out)
    assert len(people.out.splitlines()) == 4


def test_what_is_no_json_is_printed_as_it_is(cli: Cli) -> None:
    with a_peer_saying(answer(b"# HELP a b\na 1\n")) as url:
        assert cli("raw", "/metrics", "--proxy-url", url).out == "# HELP a b\na 1\n"


def test_a_page_that_is_not_there_is_what_the_proxy_says(cli: Cli) -> None:
    with a_control_plane(replies()) as url:
        said = cli("raw", "/nothing", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.FAILED, "")
    assert "answered 404: Not Found" in said.err


def test_a_path_that_could_lead_elsewhere_is_refused(cli: Cli) -> None:
    said = cli("raw", "@elsewhere/x")

    assert said.code == Exit.USAGE
    assert "a path begins with /" in said.err
