"""One request on its way through: forwarded to a Proxy, and its answer passed on as it comes.

Status, headers and body are the Proxy's own, byte for byte. Until the first of them has come,
a Proxy that fails is replaced by the next one; after that the client's connection is cut, so
that half an answer cannot be taken for a whole one. A client that leaves takes its request
along: the Proxy sees a reset.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from cacheroute.core.errors import CapacityError, UpstreamError
from cacheroute.core.ids import is_request_id
from cacheroute.dataplane.head import render_lines
from cacheroute.dataplane.outbound import Outbound
from cacheroute.demo.scheduler.answering import respond_error
from cacheroute.wire import headers

if TYPE_CHECKING:
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.demo.scheduler.proxies import ProxyRecord


class NoProxy(CapacityError):
    """No Proxy that is alive can take the request."""

    code = "no_proxy"


class Ways(Protocol):
    """Who chooses the Proxy of a request, and sends it there."""

    def choose(self, endpoint: str, excluded: set[str]) -> ProxyRecord:
        """Return the Proxy whose turn it is; raises NoProxy."""
        ...

    def send(self, proxy: ProxyRecord, outbound: Outbound) -> None:
        """Send a request to a Proxy."""
        ...


class Relay:
    """One request of a client."""

    def __init__(
        self,
        inbound: Inbound,
        endpoint: str,
        ways: Ways,
        *,
        lines: list[tuple[bytes, bytes]],
        render: Callable[[ProxyRecord], bytes],
    ) -> None:
        self._inbound = inbound
        self._endpoint = endpoint
        self._ways = ways
        self._lines = [*lines, *_lines_of_client(inbound)]
        self._render = render
        self._tried: set[str] = set()
        self._proxy: ProxyRecord | None = None
        self._outbound: Outbound

    def begin(self) -> None:
        """Send the request to the Proxy whose turn it is; raises NoProxy."""
        self._send()
        self._inbound.on_gone = self._gone

    # From the data plane

    def on_head(self) -> None:
        """Begin the answer as the Proxy began it."""
        inbound, outbound = self._inbound, self._outbound
        inbound.begin(outbound.status, b"".join(outbound.lines), outbound.content_length)
        inbound.on_pause = outbound.pause
        inbound.on_resume = outbound.resume

    def on_body(self, data: bytes) -> None:
        """Pass a piece on."""
        self._inbound.write(data)

    def on_end(self, data: bytes) -> None:
        """Settle, then pass the last piece and the end on."""
        self._settle()
        self._inbound.finish(data)

    def on_fail(self, error: UpstreamError) -> None:
        """Ask the next Proxy, or say so in whatever way is still open."""
        self._settle()
        inbound = self._inbound
        if inbound.begun:
            inbound.cut()
            return
        if error.retryable:
            try:
                self._send()
            except NoProxy:
                pass  # the failure says more than that nobody is left
            else:
                return
        respond_error(inbound, error)

    # Within

    def _send(self) -> None:
        proxy = self._ways.choose(self._endpoint, self._tried)
        self._tried.add(proxy.proxy_id)
        body = self._render(proxy)
        lines = render_lines([*self._lines, (b"Content-Length", b"%d" % len(body))])
        start = f"POST /v1/{self._endpoint} HTTP/1.1\r\nHost: {proxy.address.authority}\r\n"
        self._proxy = proxy
        self._outbound = Outbound(b"%b%b\r\n" % (start.encode("ascii"), lines), body, self)
        proxy.inflight += 1
        self._ways.send(proxy, self._outbound)

    def _gone(self) -> None:
        self._settle()
        self._outbound.abandon()

    def _settle(self) -> None:
        """Give the place at the Proxy back, once."""
        proxy, self._proxy = self._proxy, None
        if proxy is not None:
            # A heartbeat may have put another number here meanwhile.
            proxy.inflight = max(0, proxy.inflight - 1)


def _lines_of_client(inbound: Inbound) -> list[tuple[bytes, bytes]]:
    lines = [(b"Content-Type", b"application/json")]
    authorization = inbound.header(b"authorization")
    if authorization is not None:
        lines.append((b"Authorization", authorization))
    request_id = inbound.header(headers.REQUEST_ID.lower())
    if request_id is not None and is_request_id(request_id):
        lines.append((headers.REQUEST_ID, request_id))
    return lines
