"""What a console asks, by either client: with the last revision, and as structs."""

import socket

import msgspec
import pytest

from cacheroute.client.console import snapshot_path, trace
from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import NotUnderstood, Refused
from cacheroute.wire.console import ConsoleSnapshot, Identities, Unchanged
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer

KNOWN = ConsoleSnapshot(rev=7, who=3, generated_at=1.0, identities=Identities(ids=["a", "b"]))


def test_who_knows_a_document_asks_for_what_is_new_since() -> None:
    assert snapshot_path(None) == "/v1/console/snapshot"
    assert snapshot_path(KNOWN) == "/v1/console/snapshot?since=7&who=3"
    assert trace("a b/c").path == "/debug/traces?request_id=a%20b%2Fc"


async def test_a_document_without_names_gets_those_that_are_known() -> None:
    body = msgspec.json.encode(msgspec.structs.replace(KNOWN, rev=8, identities=None))
    with a_peer_saying(answer(body)) as url:
        with ControlClient(url) as client:
            found = client.console_snapshot(KNOWN)
        async with AsyncControlClient(url) as asking:
            assert await asking.console_snapshot(KNOWN) == found
            with pytest.raises(NotUnderstood, match="leaves out who"):
                await asking.console_snapshot()

    assert isinstance(found, ConsoleSnapshot)
    assert (found.rev, found.ids) == (8, ["a", "b"])


def test_nothing_new_is_an_answer() -> None:
    body = b'{"rev":7,"unchanged":true,"generated_at":2.0,"run":"r","uptime_s":5.0}'
    with a_peer_saying(answer(body)) as url, ControlClient(url) as client:
        assert client.console_snapshot(KNOWN) == Unchanged(
            rev=7, unchanged=True, generated_at=2.0, run="r", uptime_s=5.0
        )


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"rev":"x","generated_at":1}', b"\xff"])
def test_what_is_no_document_is_not_understood(body: bytes) -> None:
    with (
        a_peer_saying(answer(body)) as url,
        ControlClient(url) as client,
        pytest.raises(NotUnderstood),
    ):
        client.console_snapshot()


@pytest.mark.parametrize(
    ("question", "line"),
    [
        (lambda c: c.instance("a b"), "/v1/console/instance?id=a%20b"),
        (lambda c: c.traces(last=3), "/debug/traces?last=3"),
        (lambda c: c.traces(last=3, since=4), "/debug/traces?last=3&since=4"),
        (lambda c: c.trace("r"), "/debug/traces?request_id=r"),
        (lambda c: c.decisions(last=5), "/debug/decisions?last=5"),
        (lambda c: c.decisions(last=3, since=4), "/debug/decisions?last=3&since=4"),
    ],
)
def test_every_page_has_its_question(question: object, line: str) -> None:
    asked: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        asked.append(request.split(b" ")[1])
        connection.sendall(answer(b"{}", status="404 No"))

    with a_peer(reply) as url, ControlClient(url) as client, pytest.raises(Refused):
        question(client)  # type: ignore[operator]

    assert asked == [line.encode()]


def a_stream(*events: tuple[bytes, bytes]) -> bytes:
    said = b"".join(b"event: %b\ndata: %b\n\n" % event for event in events)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return head + b": hello\n\n" + said


def test_a_stream_yields_whole_documents_and_passes_over_what_it_does_not_know() -> None:
    change = msgspec.json.encode(msgspec.structs.replace(KNOWN, rev=8, identities=None))
    said = a_stream(
        (b"snapshot", msgspec.json.encode(KNOWN)), (b"news", b"{}"), (b"change", change)
    )
    with a_peer_saying(said) as url, ControlClient(url) as client:
        found = list(client.console_stream())

    assert [(each.rev, each.ids) for each in found] == [(7, ["a", "b"]), (8, ["a", "b"])]


def test_a_stream_that_begins_in_the_middle_is_not_understood() -> None:
    change = msgspec.json.encode(msgspec.structs.replace(KNOWN, identities=None))
    with (
        a_peer_saying(a_stream((b"change", change))) as url,
        ControlClient(url) as client,
        pytest.raises(NotUnderstood),
    ):
        list(client.console_stream())
