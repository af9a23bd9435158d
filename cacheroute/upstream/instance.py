"""How a request is put to an Instance: which header lines travel, and with what key.

The client's lines go on as they came, except those that speak of its own connection. What
is sent is built from bytes made once per Instance and path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from cacheroute.dataplane.head import HOP_BY_HOP, connection_tokens
from cacheroute.formats.json_edit import replace_value
from cacheroute.upstream.exchange import Exchange
from cacheroute.wire import headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from cacheroute.core.instance import Instance
    from cacheroute.core.pool_member import Member
    from cacheroute.core.request import RouteRequest
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.dataplane.pool import Peer, UpstreamPool

WITHHELD_OF_REQUEST = HOP_BY_HOP | {
    b"accept-encoding",  # asking for identity is what lets us read usage beside the relay
    b"authorization",
    b"content-length",
    b"expect",
    b"host",
    headers.META.lower(),
    headers.REQUEST_ID.lower(),
}

WITHHELD_OF_ANSWER = frozenset(
    name.lower() for name in (headers.REQUEST_ID, headers.INSTANCE, headers.ATTEMPTS)
)
"""Header lines of an Instance that are ours to say."""

_REQUEST_ID = headers.REQUEST_ID + b": "
_NAME_NOTHING = frozenset({b"keep-alive", b"close"})
"""Values of a `Connection` header that name no other header."""


class _Reach:
    """What is needed to talk to one Instance."""

    __slots__ = ("authorization", "heads", "instance", "line", "model", "peer")

    def __init__(self, instance: Instance, peer: Peer) -> None:
        self.instance = instance
        self.peer = peer
        self.heads: dict[tuple[str, str], bytes] = {}
        key = instance.api_key
        self.authorization = b"Authorization: Bearer %b" % key.encode() if key else b""
        self.line = _line(instance)
        override = instance.model_override
        self.model = None if override is None else msgspec.json.encode(override)

    def head(self, method: str, path: str) -> bytes:
        """Return request line and Host."""
        head = self.heads.get((method, path))
        if head is None:
            instance = self.instance
            target = f"{instance.base_path}{path}"
            head = f"{method} {target} HTTP/1.1\r\nHost: {instance.authority}".encode("latin-1")
            if len(self.heads) < 64:
                self.heads[method, path] = head
        return head


class Instances:
    """The way to every Instance of the pool."""

    def __init__(
        self,
        pool: UpstreamPool,
        clock: Callable[[], float],
        *,
        forward_authorization: bool = True,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._forward_authorization = forward_authorization
        self._reaches: dict[str, _Reach] = {}

    def forward(
        self,
        request: RouteRequest,
        inbound: Inbound,
        member: Member,
        *,
        body: bytes | None = None,
        keeps_whole: bool = False,
    ) -> Exchange:
        """Send a request to an Instance.

        `body` stands in for the request's own; with `keeps_whole` the answer is left open for
        something to be said at its end.
        """
        instance = member.instance
        reach = self._reaches.get(instance.instance_id)
        if reach is None or reach.instance is not instance:
            reach = self._reach(instance)
        if body is None:
            body = request.body
        if reach.model is not None:
            body = replace_value(body, b"model", reach.model)
        path = (
            request.path
            if not request.query
            else f"{request.path}?{request.query.decode('latin-1')}"
        )
        exchange = Exchange(
            reach.peer,
            self._render_head(reach, request, path, inbound, len(body)),
            body,
            expects_body=request.method != "HEAD",
            clock=self._clock,
            event_limit_bytes=self._pool.limits.event_bytes,
        )
        exchange.keeps_whole = keeps_whole
        exchange.wraps_text = keeps_whole and request.caller == "scheduler"
        exchange.send()
        return exchange

    def line(self, member: Member) -> bytes:
        """Return the header line that tells a client which Instance answered."""
        reach = self._reaches.get(member.instance.instance_id)
        # An Instance may leave while its answer is on the way.
        return _line(member.instance) if reach is None else reach.line

    def forget(self, instance: Instance) -> None:
        """An Instance has left the pool."""
        reach = self._reaches.pop(instance.instance_id, None)
        # One that was never sent a request has been probed all the same.
        peer = self._pool.known_peer(instance.host, instance.port) if reach is None else reach.peer
        if peer is not None:
            self._retire_unused(peer)

    def _reach(self, instance: Instance) -> _Reach:
        peer = self._pool.peer(instance.host, instance.port)
        before = self._reaches.get(instance.instance_id)
        reach = self._reaches[instance.instance_id] = _Reach(instance, peer)
        if before is not None:
            self._retire_unused(before.peer)
        return reach

    def _retire_unused(self, peer: Peer) -> None:
        if all(reach.peer is not peer for reach in self._reaches.values()):
            peer.retire()

    def _render_head(
        self, reach: _Reach, request: RouteRequest, path: str, inbound: Inbound, length: int
    ) -> bytes:
        fields = inbound.fields
        withheld = WITHHELD_OF_REQUEST
        if fields.get(b"connection", b"close").lower() not in _NAME_NOTHING or (
            len(fields) < len(inbound.headers)  # one that is repeated may be this one
        ):
            withheld = withheld | _named_in_connection(inbound)
        # Joined, not formatted: that takes half the time, and there are many lines.
        lines = [b": ".join(line) for line in inbound.headers if line[0].lower() not in withheld]
        if reach.authorization:
            lines.append(reach.authorization)
        elif self._forward_authorization:
            authorization = fields.get(b"authorization")
            if authorization is not None and not _is_blank_bearer(authorization):
                lines.append(b"Authorization: " + authorization)
        if length or request.method == "POST":
            lines.append(b"Content-Length: %d" % length)
        lines.append(_REQUEST_ID + request.request_id.encode())
        return b"\r\n".join([reach.head(request.method, path), *lines, b"", b""])


def _line(instance: Instance) -> bytes:
    return b"%b: %b\r\n" % (headers.INSTANCE, instance.instance_id.encode())


def _named_in_connection(inbound: Inbound) -> set[bytes]:
    """Return the lower-case names of the headers that are meant for this connection alone."""
    named: set[bytes] = set()
    for name, value in inbound.headers:
        if name.lower() == b"connection":
            named |= connection_tokens(value)
    return named


def _is_blank_bearer(authorization: bytes) -> bool:
    """Whether a credential says nothing: `Bearer`, `Bearer ` or the `Bearer None` of old peers."""
    scheme, _, token = authorization.strip().partition(b" ")
    return not scheme or (scheme.lower() == b"bearer" and token.strip() in (b"", b"None"))
