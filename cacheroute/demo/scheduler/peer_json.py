"""One question in JSON to a peer, over the same connections that requests are forwarded on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cacheroute.core.errors import UpstreamError, UpstreamProtocolError, UpstreamTimeout
from cacheroute.dataplane.outbound import Outbound

if TYPE_CHECKING:
    from cacheroute.dataplane.pool import UpstreamPool
    from cacheroute.formats.address import Address

MAX_REPLY_BYTES = 32 * 1024 * 1024


class TooMuch(UpstreamProtocolError):
    """The answer is larger than the peer gives or than is taken: ask for less."""


class _Reply:
    """Gathers an answer."""

    def __init__(self, peer: str) -> None:
        self.ended: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._peer = peer
        self._pieces: list[bytes] = []
        self._size = 0

    def on_head(self) -> None:
        """Its head says nothing that is needed early."""

    def on_body(self, data: bytes) -> None:
        """Keep a piece."""
        self._size += len(data)
        self._pieces.append(data)
        if self._size > MAX_REPLY_BYTES and not self.ended.done():
            why = f"{self._peer} answered more than {MAX_REPLY_BYTES} bytes."
            self.ended.set_exception(TooMuch(why, peer=self._peer))

    def on_end(self, data: bytes) -> None:
        """Be whole."""
        self.on_body(data)
        if not self.ended.done():
            self.ended.set_result(b"".join(self._pieces))

    def on_fail(self, error: UpstreamError) -> None:
        """Be none."""
        if not self.ended.done():
            self.ended.set_exception(error)


async def post_json(
    pool: UpstreamPool,
    address: Address,
    path: str,
    body: Mapping[str, object],
    *,
    within_s: float,
) -> dict[str, Any]:
    """Ask, and return the object that is answered; raises UpstreamError with a sentence."""
    name = address.authority
    data = json.dumps(body, allow_nan=False).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {name}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    ).encode("ascii")
    reply = _Reply(name)
    outbound = Outbound(head, data, reply)
    pool.peer(address.host, address.port).send(outbound)
    try:
        async with asyncio.timeout(within_s):
            answer = await reply.ended
    except TimeoutError:
        why = f"{name} did not answer {path} within {within_s:g} s."
        raise UpstreamTimeout(why, peer=name) from None
    finally:
        outbound.abandon()
    if outbound.status != 200:
        said = answer[:200].decode("utf-8", "replace")
        why = f"{name} answered {path} with {outbound.status}: {said}"
        kind = TooMuch if outbound.status == 413 else UpstreamProtocolError
        raise kind(why, peer=name)
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        why = f"{name} answered {path} with something else than a JSON object."
        raise UpstreamProtocolError(why, peer=name)
    return value
