"""`cacheroute show`."""

import json

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.client.canned import a_peer, answer
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies, replies

POOL = our_replies(an_instance("inst-1", tags=["demo"]), an_instance("inst-2"))


def test_an_instance_is_told_from_every_side(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("show", "inst-1", "--proxy-url", url)

    labels = [line.split()[0] for line in said.out.splitlines()]
    assert said.code == Exit.OK
    assert labels == [
        "instance", "state", "models", "tags", "load", "score", "resources", "links", "requests",
    ]  # fmt: skip


def test_the_document_has_the_rows_of_every_list(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        document = cli("show", "inst-1", "--proxy-url", url, "-o", "json").document

    assert document["schema"] == "cacheroute.instance/1"
    assert document["instance"]["tags"] == ["demo"]
    assert [link["kdn"] for link in document["links"]] == ["kdn-1"]
    assert [one["request_id"] for one in document["decisions"]] == ["r-1"]


def test_a_published_proxy_tells_less_and_that_is_no_error(cli: Cli) -> None:
    pool = replies(an_instance("inst-1"))
    del pool["/debug/instance_loads"]
    with a_control_plane(pool) as url:
        said = cli("show", "inst-1", "--proxy-url", url, "-o", "json")

    assert said.code == Exit.OK
    assert (said.document["load"], said.document["score"]) == (None, None)
    assert (said.document["links"], said.document["decisions"]) == ([], [])


def test_raw_is_what_the_proxy_says_key_for_key(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("show", "inst-1", "--raw", "--proxy-url", url)
        indented = cli("show", "inst-1", "--raw", "--proxy-url", url, "-o", "table")

    assert json.loads(said.out) == json.loads(indented.out) == an_instance("inst-1", tags=["demo"])
    assert len(said.out.splitlines()) == 1
    assert len(indented.out.splitlines()) > 10


def test_an_instance_that_is_not_there_is_exit_four_with_the_nearest(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("show", "inst-3", "--proxy-url", url)
        raw = cli("show", "inst-3", "--raw", "--proxy-url", url, "-o", "json")

    assert (said.code, said.out) == (Exit.NOT_FOUND, "")
    assert "did you mean 'inst-" in said.err
    assert (raw.code, raw.error["code"]) == (Exit.NOT_FOUND, "instance.unknown")


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (b"<html>", "it is no JSON"),
        (b'{"instance_id": "inst-1"}', "it is no list of Instances"),
        (b'["inst-1"]', "it is no list of Instances"),
    ],
)
def test_raw_of_something_else_than_a_pool_is_not_understood(
    cli: Cli, page: bytes, why: str
) -> None:
    with a_peer(lambda _, connection: connection.sendall(answer(page))) as url:
        said = cli("show", "inst-1", "--raw", "--proxy-url", url)

    assert said.code == Exit.NOT_UNDERSTOOD
    assert why in said.err
