"""`cacheroute decisions`."""

import json

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies, replies

POOL = our_replies(an_instance("a"), an_instance("b"))


def test_the_newest_decision_comes_first(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("decisions", "--proxy-url", url, "--columns", "seq,request,instance,cost")

    assert said.out == "2\tr-2\tb\t3.00\n1\tr-1\ta\t3.00\n"


def test_a_watch_in_a_pipe_tells_each_once_and_the_oldest_first(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("decisions", "-w", "-i", "0.2", "--count", "2", "--proxy-url", url)

    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["tick"], row["seq"]) for row in rows] == [(1, 1), (1, 2)]


def test_a_limit_keeps_the_newest_of_a_watch(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("decisions", "--count", "1", "-n", "1", "--proxy-url", url)

    assert json.loads(said.out)["seq"] == 2


def test_a_published_proxy_tells_none_and_that_is_no_error(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        said = cli("decisions", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.OK, "")
