"""`cacheroute traces`."""

import json

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies, replies

POOL = our_replies(an_instance("a"), an_instance("b"))


def test_the_newest_request_comes_first(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("traces", "--proxy-url", url, "--columns", "seq,request,instance,ttft,took")

    assert said.out == "2\tr-2\tb\t50.0ms\t2.0s\n1\tr-1\ta\t50.0ms\t1.0s\n"


def test_only_slow_ones_can_be_asked_for(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("traces", "--slow", "1.5", "-o", "name", "--proxy-url", url)

    assert said.out == "r-2\n"


def test_a_watch_in_a_pipe_tells_each_once_and_the_oldest_first(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("traces", "-w", "-i", "0.2", "--count", "2", "--proxy-url", url)

    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["tick"], row["seq"]) for row in rows] == [(1, 1), (1, 2)]


def test_one_request_is_shown_room_by_room(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("traces", "r-1", "--proxy-url", url)

    lines = said.out.splitlines()
    assert lines[0].startswith("request   r-1  a  ok 200")
    assert [line.split()[0] for line in lines[2:5]] == ["place", "prefill", "decode"]
    assert "■" in lines[4]


def test_where_signs_cannot_be_shown_bars_are_letters(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("traces", "r-1", "--ascii", "--proxy-url", url)

    assert said.out.isascii()
    assert "####" in said.out


def test_a_request_that_nobody_knows_is_not_found(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        published = cli("traces", "r-9", "--proxy-url", url)

    # A Proxy of others has no such page at all.
    assert published.code == Exit.FAILED


def test_a_published_proxy_tells_none_and_that_is_no_error(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        said = cli("traces", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.OK, "")
