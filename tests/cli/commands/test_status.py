"""`cacheroute status`, and every way it goes without an answer."""

import socket

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies


def a_dead_url() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_proxy_and_its_pool_are_told_in_a_few_lines(cli: Cli) -> None:
    pool = replies(an_instance("a"), an_instance("b", is_alive=False, last_seen_at=0))
    with a_control_plane(pool) as url:
        said = cli("status", "--proxy-url", url)

    assert said.code == Exit.OK
    assert said.out.splitlines()[0] == f"proxy     proxy-a  {url}  ttl 30 s"
    assert said.out.splitlines()[1].startswith("pool      1 alive · 0 stale · 1 dead")


def test_the_document_has_the_same_facts(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        document = cli("status", "--proxy-url", url, "-o", "json").document

    assert document["schema"] == "cacheroute.status/1"
    assert document["status"]["alive"] == 1
    assert document["status"]["inflight"] == 3
    assert document["status"]["strategy"] is None


def test_nobody_there_is_exit_three_with_a_hint(cli: Cli) -> None:
    url = a_dead_url()

    said = cli("status", "--proxy-url", url)

    assert said.code == Exit.UNREACHABLE
    assert said.out == ""
    assert said.err.splitlines() == [
        f"cacheroute: error: cannot reach the control plane at {url} (connection refused)",
        "  hint: is it running, and is this its control plane?",
    ]


def test_nobody_there_is_one_object_for_a_program(cli: Cli) -> None:
    said = cli("status", "-o", "json", "--proxy-url", a_dead_url())

    assert said.out == ""
    assert said.error["code"] == "proxy.unreachable"
    assert said.error["cause"] == "connection refused"
    assert said.error["exit"] == said.code == 3


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [
        (
            answer(b'{"error":"unauthorized","detail":"x"}', status="401 No"),
            Exit.NOT_ALLOWED,
            "CACHEROUTE_TOKEN",
        ),
        (answer(b"oops", status="500 Oops"), Exit.FAILED, "answered 500: oops"),
        (answer(b"<html>"), Exit.NOT_UNDERSTOOD, "is not understood"),
        (b"SSH-2.0\r\n\r\n", Exit.NOT_UNDERSTOOD, "is it a CacheRoute control plane?"),
    ],
)
def test_each_kind_of_no_has_its_exit(cli: Cli, raw: bytes, code: Exit, words: str) -> None:
    with a_peer_saying(raw) as url:
        said = cli("status", "--proxy-url", url)

    assert said.code == code
    assert words in said.err


def test_silence_is_exit_three_too(cli: Cli) -> None:
    def wait_for_the_client_to_leave(_: bytes, connection: socket.socket) -> None:
        connection.recv(1)

    with a_peer(wait_for_the_client_to_leave) as url:
        said = cli("status", "--proxy-url", url, "--timeout", "0.05")

    assert said.code == Exit.UNREACHABLE
    assert "did not answer within 0.05 s" in said.err


def test_a_url_that_is_none_is_a_wrong_usage(cli: Cli) -> None:
    said = cli("status", "--proxy-url", "ftp://x")

    assert said.code == Exit.USAGE
    assert "'ftp://x' is not the URL of a control plane" in said.err
