"""The least there is between a client and an Instance: one Exchange per request."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from cacheroute.core.errors import UpstreamError
from cacheroute.core.limits import Limits, Timeouts
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.dataplane.server import HttpServer
from cacheroute.dataplane.turns import Turns
from cacheroute.upstream.exchange import Exchange
from tests.support.backend import Reply, ScriptedBackend, scripted
from tests.support.openai_shapes import DONE

OURS = b"X-Ours: yes\r\n"
WORDS = b"event: ours\ndata: 1\n\n"
"""What is said at the end of a stream that was held open for it."""


@dataclass(slots=True, eq=False)
class Relay:
    """What became of the requests that went through."""

    backend: ScriptedBackend
    pool: UpstreamPool
    keeps_whole: bool = False
    wraps_text: bool = False
    port: int = 0
    """Where clients ask."""
    exchanges: list[Exchange] = field(default_factory=list)
    failures: list[UpstreamError] = field(default_factory=list)
    crashes: list[BaseException] = field(default_factory=list)
    before_relay: Callable[[Exchange], None] = lambda _: None
    before_finish: Callable[[Exchange], None] = lambda _: None

    def on_request(self, inbound: Inbound) -> None:
        Turns(self._serve(inbound), self.crashes.append).resume()

    async def _serve(self, inbound: Inbound) -> None:
        head = f"{inbound.method} /v1/x HTTP/1.1\r\nHost: {self.backend.authority}\r\n\r\n"
        exchange = Exchange(
            self.pool.peer(self.backend.host, self.backend.port),
            head.encode(),
            b"",
            expects_body=inbound.method != "HEAD",
            clock=lambda: 1.0,
            event_limit_bytes=self.pool.limits.event_bytes,
        )
        exchange.keeps_whole = self.keeps_whole
        exchange.wraps_text = self.wraps_text
        self.exchanges.append(exchange)
        exchange.send()
        try:
            await exchange.opening()
            self.before_relay(exchange)
            if exchange.is_whole:
                exchange.relay_whole(inbound, OURS, b"<%b>" % exchange.take_whole())
            else:
                exchange.relay_to(inbound, OURS)
            await exchange.ending()
            if exchange.is_held_open:
                mark = DONE if exchange.take_mark() else b""
                exchange.say_last(WORDS)
                exchange.say_last(mark)
            self.before_finish(exchange)
            exchange.finish()
        except UpstreamError as error:
            self.failures.append(error)
            exchange.abandon()
            if inbound.begun:
                inbound.write(exchange.end_event())
                inbound.cut()
            else:
                inbound.respond(error.status, (), error.message.encode())


@contextlib.asynccontextmanager
async def relaying(
    reply: Reply,
    limits: Limits | None = None,
    timeouts: Timeouts | None = None,
    *,
    keeps_whole: bool = False,
    wraps_text: bool = False,
) -> AsyncIterator[Relay]:
    """Run a relay before a backend that replies like this."""
    async with scripted(reply) as backend:
        pool = UpstreamPool(limits=limits, timeouts=timeouts)
        relay = Relay(backend, pool, keeps_whole, wraps_text)
        server = HttpServer(relay.on_request)
        await server.start()
        relay.port = server.port
        try:
            yield relay
        finally:
            await server.stop()
            pool.close()
        assert not relay.crashes, relay.crashes
