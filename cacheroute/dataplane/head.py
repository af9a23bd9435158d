"""Heads of HTTP messages: which header lines travel on, and how a head is written.

Header names and values stay bytes, as received. Lines that speak about one connection
only (hop by hop) never travel, nor do those that a `Connection` header names.
"""

from collections.abc import Iterable
from http import HTTPStatus

Header = tuple[bytes, bytes]

HOP_BY_HOP = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
        b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip

STATUS_LINES: dict[int, bytes] = {
    status.value: b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode())
    for status in HTTPStatus
}

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


def status_line(status: int) -> bytes:
    """Return the start line of a response, with the usual phrase where there is one."""
    return STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


def render_lines(headers: Iterable[Header]) -> bytes:
    """Write header lines, each ended, without the blank line that closes a head."""
    return b"".join([b"%b: %b\r\n" % header for header in headers])


def connection_tokens(value: bytes) -> set[bytes]:
    """Return the lower-case tokens of a `Connection` header."""
    return {token.strip().lower() for token in value.split(b",")} - {b""}


def origin_form(target: bytes) -> bytes:
    """Return path and query of a request target in any of its forms; that of a CONNECT is `/`."""
    if target.startswith((b"/", b"*")):
        return target
    _, scheme, rest = target.partition(b"://")
    if not scheme:
        return b"/"
    place, mark, query = rest.partition(b"?")
    return b"/" + place.partition(b"/")[2] + mark + query


def has_no_body(status: int) -> bool:
    """Whether a response with this status has no body, whatever its headers say."""
    return status in (204, 304) or 100 <= status < 200
