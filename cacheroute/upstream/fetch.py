"""One question with a whole and bounded answer, for tasks of the event loop.

Probes, scrapes and the Scheduler are asked this way; requests of clients are run by hand
and ask through `upstream.ask`.
"""

import asyncio

from cacheroute.core.errors import UpstreamError, UpstreamProtocolError
from cacheroute.dataplane.outbound import Outbound
from cacheroute.dataplane.pool import Peer


class _Reply:
    """Gathers one answer."""

    def __init__(self, peer: Peer, head: bytes, body: bytes, limit_bytes: int) -> None:
        self._peer = peer
        self._limit_bytes = limit_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self.outbound = Outbound(head, body, self)
        self.done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def on_head(self) -> None:
        """Wait for the rest."""

    def on_body(self, data: bytes) -> None:
        """Keep a piece, within the limit."""
        self._size += len(data)
        if self._size > self._limit_bytes:
            self.outbound.abandon()
            message = f"{self._peer.name} sent more than {self._limit_bytes} bytes."
            self.on_fail(UpstreamProtocolError(message, peer=self._peer.name))
        else:
            self._pieces.append(data)

    def on_end(self, data: bytes) -> None:
        """Hand over the whole."""
        self.on_body(data)
        if not self.done.done():
            self.done.set_result(b"".join(self._pieces))

    def on_fail(self, error: UpstreamError) -> None:
        """Hand over the failure."""
        if not self.done.done():
            self.done.set_exception(error)


async def fetch(
    peer: Peer,
    target: str,
    *,
    host: str,
    timeout_s: float,
    limit_bytes: int,
    api_key: str | None = None,
    json_body: bytes | None = None,
) -> tuple[int, bytes]:
    """Return status and body of a GET, or of a POST when there is a body.

    Raises UpstreamError or TimeoutError. Redirects are not followed: a credential must not
    leave for another host. What is posted may arrive twice where a warm connection dies.
    """
    method = "GET" if json_body is None else "POST"
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}", "Accept: application/json"]
    if api_key:
        lines.append(f"Authorization: Bearer {api_key}")
    if json_body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(json_body)}"]
    head = "\r\n".join([*lines, "", ""])
    reply = _Reply(peer, head.encode("latin-1"), json_body or b"", limit_bytes)
    peer.send(reply.outbound)
    try:
        async with asyncio.timeout(timeout_s):
            body = await reply.done
    finally:
        reply.outbound.abandon()
    return reply.outbound.status, body
