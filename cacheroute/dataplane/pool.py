"""Connections to upstream peers: kept while warm, made when missing, never shared.

There is no cap on connections: a model server queues better than we could, and a cap in
a client library is the classic way to make the 101st stream wait in silence.
"""

import asyncio
from collections.abc import Callable

from cacheroute.core.errors import (
    UpstreamConnectError,
    UpstreamConnectTimeout,
    UpstreamError,
    UpstreamGivenUp,
    UpstreamLeft,
    UpstreamTimeout,
)
from cacheroute.core.limits import Limits, Timeouts
from cacheroute.dataplane.outbound import Listener, Outbound
from cacheroute.dataplane.sockets import leads_to, notice_a_lost_host
from cacheroute.dataplane.sweep import Sweeper
from cacheroute.dataplane.turn_end import TurnEnd
from cacheroute.dataplane.upstream import UpstreamConnection

_RETRY_S = 1.0
"""When it is worth asking again after a connection could not be made."""


def allow_any_address(_host: str) -> str | None:
    """Object to no address."""
    return None


class Peer:
    """One upstream address, its idle connections and its running requests."""

    __slots__ = (
        "_connecting", "_pool", "active", "host", "idle", "is_retired", "limits", "name", "port",
        "turn_end", "withheld",
    )  # fmt: skip

    def __init__(self, pool: "UpstreamPool", host: str, port: int) -> None:
        self._pool = pool
        self.is_retired = False
        """Whether nobody will ask it for anything new."""
        self.host = host
        self.port = port
        self.name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.limits = pool.limits
        self.withheld = pool.withheld
        self.turn_end = pool.turn_end
        self.idle: list[UpstreamConnection] = []
        """Warm connections, the most recently used last."""
        self.active: set[Outbound] = set()
        self._connecting: dict[Outbound, asyncio.Task[None]] = {}

    def send(self, outbound: Outbound) -> None:
        """Send a request at the end of this turn, on a warm connection or on a new one."""
        self.active.add(outbound)
        self.turn_end.call(lambda: self._begin(outbound))

    def _begin(self, outbound: Outbound) -> None:
        if outbound.done:  # given up in the same turn
            self.active.discard(outbound)
        elif self.idle:
            self.idle.pop().begin(outbound)
        else:
            self.connect(outbound)

    def connect(self, outbound: Outbound) -> None:
        """Send a request on a new connection."""
        outbound.connection = None
        task = self._pool.loop.create_task(self._connect(outbound))
        self._connecting[outbound] = task
        task.add_done_callback(lambda _: self._connecting.pop(outbound, None))

    async def _connect(self, outbound: Outbound) -> None:
        timeout_s = self._pool.timeouts.connect_s
        try:
            async with asyncio.timeout(timeout_s):
                transport, connection = await self._pool.loop.create_connection(
                    lambda: UpstreamConnection(self), self.host, self.port
                )
        except TimeoutError:
            why = f"No connection to {self.name} within {timeout_s:g} s (timeouts.connect_s)."
            self._cannot_connect(outbound, why, UpstreamConnectTimeout)
            return
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self._cannot_connect(outbound, f"No connection to {self.name}: {reason}.")
            return
        except BaseException:
            # Whoever waits must hear of it, even if it is our own mistake.
            why = f"No connection to {self.name}: the attempt was broken off."
            self._cannot_connect(outbound, why)
            raise
        notice_a_lost_host(transport)
        address = transport.get_extra_info("peername")
        objection = self._pool.object_to(address[0]) if address else None
        if leads_to(transport, self._pool.own_addresses):
            objection = "and that is this process itself"  # a request would go round and round
        if objection is not None:
            transport.abort()
            # Whoever may name a peer, or ask one, must not learn from us what a name stands for.
            self._cannot_connect(
                outbound,
                f"{self.name} leads to an address that nothing may be sent to.",
                for_operator=f"{self.name} leads to {address[0]}, {objection}.",
            )
        elif outbound.done:  # given up while connecting; the connection is as good as new
            self.active.discard(outbound)
            if self.is_retired:
                connection.close()
            else:
                connection.is_reused = True  # whoever gets it finds it as old as any idle one
                self.idle.append(connection)
        else:
            connection.begin(outbound)

    def ended(self, outbound: Outbound) -> Listener:
        """Take note that an answer is complete; returns who is to be told."""
        self.active.discard(outbound)
        return outbound.close()

    def fail(self, outbound: Outbound, error: UpstreamError) -> None:
        """Tell the listener, unless it has walked away, that there will be no (whole) answer."""
        self.active.discard(outbound)
        if not outbound.done:
            outbound.close().on_fail(error)

    def lost(self, connection: UpstreamConnection) -> None:
        """Take note that a connection is gone."""
        if connection in self.idle:
            self.idle.remove(connection)

    def tick(self, elapsed_s: float) -> None:
        """Hold running requests and idle connections to their limits."""
        timeouts = self._pool.timeouts
        for outbound in list(self.active):
            if outbound.done:
                self.active.discard(outbound)
                continue
            outbound.life_s += elapsed_s
            if not outbound.is_paused:
                outbound.age_s += elapsed_s
            if outbound.begun:
                limit_s, what, setting = timeouts.between_bytes_s, "more", "between_bytes_s"
            else:
                limit_s, what, setting = timeouts.first_byte_s, "an answer", "first_byte_s"
            if outbound.age_s > limit_s:
                self._time_out(outbound, f"did not send {what} within", limit_s, setting)
            elif timeouts.total_s is not None and outbound.life_s > timeouts.total_s:
                self._time_out(outbound, "did not finish within", timeouts.total_s, "total_s")
        for connection in list(self.idle):
            connection.idle_s += elapsed_s
            if connection.idle_s >= timeouts.pool_idle_s:
                self.idle.remove(connection)
                connection.close()
        if self.is_retired and not self.active:
            self._pool.drop(self)

    def close(self) -> None:
        """Close idle connections; running requests go on."""
        for connection in self.idle:
            connection.close()
        self.idle.clear()

    def retire(self) -> None:
        """Fail the requests that have no answer yet; those that have may end, and then it goes."""
        self.is_retired = True
        for outbound in list(self.active):
            if outbound.begun or outbound.done:
                continue
            if outbound.connection is not None:
                outbound.connection.reset()
            message = f"{self.name} left the pool before it had begun to answer."
            self.fail(outbound, UpstreamLeft(message, peer=self.name))
        self.close()
        if not self.active:
            self._pool.drop(self)

    def _cannot_connect(
        self,
        outbound: Outbound,
        why: str,
        kind: type[UpstreamConnectError] = UpstreamConnectError,
        for_operator: str | None = None,
    ) -> None:
        error = kind(why, peer=self.name, retry_after_s=_RETRY_S, for_operator=for_operator)
        self.fail(outbound, error)

    def _time_out(self, outbound: Outbound, what: str, limit_s: float, setting: str) -> None:
        if outbound.connection is not None:
            outbound.connection.reset()
        message = f"{self.name} {what} {limit_s:g} s (timeouts.{setting})."
        self.fail(outbound, UpstreamTimeout(message, peer=self.name))


class UpstreamPool:
    """Every upstream peer, one `Peer` per address."""

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        timeouts: Timeouts | None = None,
        object_to: Callable[[str], str | None] = allow_any_address,
        withheld: frozenset[bytes] = frozenset(),
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.turn_end = TurnEnd(self.loop)
        """When requests leave; what should leave along with them can be put off to it as well."""
        self.limits = limits or Limits()
        self.timeouts = timeouts or Timeouts()
        self.object_to = object_to
        """Says why a resolved address must not be talked to, or None."""
        self.own_addresses: frozenset[tuple[str, int]] = frozenset()
        """Where this process listens: no peer can be there, whatever its name is."""
        self.withheld = withheld
        """Lower-case names of header lines that are not passed on from any answer."""
        self._peers: dict[tuple[str, int], Peer] = {}
        self._sweeper = Sweeper(
            self.loop,
            [
                self.timeouts.first_byte_s,
                self.timeouts.between_bytes_s,
                self.timeouts.total_s,
                self.timeouts.pool_idle_s,
            ],
        )
        self._sweeper.start()

    def peer(self, host: str, port: int) -> Peer:
        """Return the peer at an address, the same one each time until it is retired."""
        peer = self._peers.get((host, port))
        if peer is None or peer.is_retired:
            peer = self._peers[host, port] = Peer(self, host, port)
            self._sweeper.watched.add(peer)
        return peer

    def known_peer(self, host: str, port: int) -> Peer | None:
        """Return the peer at an address, if there is one."""
        return self._peers.get((host, port))

    def drop(self, peer: Peer) -> None:
        """Forget a peer that is no longer needed and has nothing running."""
        peer.is_retired = True  # a connection that is still being made for it is not to be kept
        peer.close()
        self._sweeper.watched.discard(peer)
        if self._peers.get((peer.host, peer.port)) is peer:
            del self._peers[peer.host, peer.port]

    def give_up(self) -> None:
        """Fail every running request, so that its client can be told before this process ends."""
        for peer in self._peers.values():
            for outbound in list(peer.active):
                if outbound.connection is not None:
                    outbound.connection.reset()
                message = f"This Proxy is stopping and cannot wait for {peer.name} any longer."
                peer.fail(outbound, UpstreamGivenUp(message, peer=peer.name))

    def close(self) -> None:
        """Close every idle connection and stop watching."""
        self._sweeper.stop()
        for peer in self._peers.values():
            peer.close()
