"""Bytes become whole requests, or a reason why not.

The framing rules themselves are walked in `test_connection_framing`, through a server.
"""

from typing import cast

import pytest

from cacheroute.core.limits import Limits
from cacheroute.dataplane.connection import ClientConnection
from cacheroute.dataplane.memory import RequestMemory
from cacheroute.dataplane.reader import RequestReader


class Turn:
    """The one thing a reader asks of its connection."""

    def __init__(self) -> None:
        self.asked = 0

    def may_continue(self) -> None:
        self.asked += 1


def reader(limits: Limits | None = None, turn: Turn | None = None) -> RequestReader:
    limits = limits or Limits()
    memory = RequestMemory(limits.request_bytes)
    return RequestReader(cast(ClientConnection, turn or Turn()), limits, memory)


def test_two_requests_in_one_piece_are_two_requests_in_order() -> None:
    read = reader()
    first = b"POST /a?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi"
    assert read.feed(first + b"GET /b HTTP/1.1\r\nHost: h\r\n\r\n") is None
    one, two = read.requests
    assert (one.method, one.path, one.query, one.body) == ("POST", "/a", b"x=1", b"hi")
    assert (two.method, two.path, two.body) == ("GET", "/b", b"")
    assert not read.in_message


def test_a_request_is_handed_over_only_when_it_is_whole() -> None:
    read = reader()
    read.feed(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Le")
    assert (read.in_message, read.in_body, len(read.requests)) == (True, False, 0)
    read.feed(b"ngth: 4\r\n\r\nab")
    assert (read.in_message, read.in_body, len(read.requests)) == (True, True, 0)
    read.feed(b"cd")
    assert read.requests.pop().body == b"abcd"
    assert not read.in_message


def test_what_is_read_before_the_broken_request_stays() -> None:
    read = reader()
    refusal = read.feed(b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n" + b"GET /b HTTP/1.1\r\n\r\n")
    assert refusal == (400, "An HTTP/1.1 request needs a Host header.")
    assert [request.path for request in read.requests] == ["/a"]


def test_a_client_that_waits_for_leave_is_reported_once() -> None:
    turn = Turn()
    read = reader(turn=turn)
    read.feed(b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
    assert (turn.asked, read.wants_continue) == (1, True)
    read.feed(b"x")
    assert (turn.asked, read.wants_continue) == (1, False)


def test_nothing_behind_connect_is_read() -> None:
    refusal = reader().feed(b"CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n\x16\x03\x01")
    assert refusal is not None
    assert refusal[0] == 0


@pytest.mark.parametrize("size", [100, 101])
def test_a_body_may_be_as_large_as_the_limit_and_no_larger(size: int) -> None:
    read = reader(Limits(body_bytes=100))
    refusal = read.feed(
        b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"%x\r\n%b\r\n0\r\n\r\n" % (size, b"x" * size)
    )
    if size <= 100:
        assert refusal is None
    else:
        assert refusal == (413, "The request body is larger than 100 bytes (limits.body_bytes).")
