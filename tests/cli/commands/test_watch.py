"""`cacheroute watch`: status and Instances, again and again."""

import json

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies

POOL = replies(
    an_instance("a"), an_instance("b"), an_instance("gone", is_alive=False, last_seen_at=900)
)


def test_in_a_pipe_each_look_is_a_line(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("watch", "-i", "0.2", "--count", "3", "--proxy-url", url)

    documents = [json.loads(line) for line in said.out.splitlines()]
    assert said.code == Exit.OK
    assert [document["tick"] for document in documents] == [1, 2, 3]
    assert {document["schema"] for document in documents} == {"cacheroute.watch/1"}
    assert documents[0]["status"]["dead"] == 1
    assert [item["id"] for item in documents[0]["items"]] == ["a", "b"]


def test_its_list_takes_the_options_of_a_list(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("watch", "1", "-a", "-s", "id:desc", "--count", "1", "--proxy-url", url)

    document = json.loads(said.out)
    assert (document["total"], [item["id"] for item in document["items"]]) == (3, ["gone"])


def test_as_a_table_in_a_pipe_pictures_follow_each_other(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("watch", "-i", "0.2", "--count", "2", "-o", "table", "--proxy-url", url)

    assert said.out.count("proxy     ") == 2
    assert "\x1b" not in said.out


def test_a_proxy_that_was_never_there_is_exit_three(cli: Cli) -> None:
    assert cli("watch", "--proxy-url", "127.0.0.1:1").code == Exit.UNREACHABLE
