"""The few things we ask of a socket below its transport."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Collection, Iterable

from cacheroute.formats.address import is_loopback, is_unspecified

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)
_TCP_CLOSED = 7
"""TCP_CLOSE of the kernel's tcp_states.h: the peer has reset the connection."""
FULL_READ_BYTES = 200_000
"""A piece of this size means that more is there: the event loop hands over up to 32 such pieces of
one connection before it looks at any other, unless reading is paused for the rest of the turn."""
_PROBED_AFTER_S, _PROBED_EVERY_S, _PROBES = 15, 10, 3
GONE_AFTER_S = _PROBED_AFTER_S + _PROBED_EVERY_S * _PROBES
"""How long a peer's kernel may stay silent before its host counts as gone."""


class _Nowhere(asyncio.Transport):
    """Where the rest of an answer goes when its client has left."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Drop it."""

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Drop it."""

    def can_write_eof(self) -> bool:
        """Say no."""
        return False

    def is_closing(self) -> bool:
        """Say yes."""
        return True

    def resume_reading(self) -> None:
        """Nothing will come."""

    def close(self) -> None:
        """It is closed."""

    def abort(self) -> None:
        """It is closed."""


NOWHERE = _Nowhere()
"""Takes the place of a transport that is gone: the loop's own raises when it is written to."""


def reset(transport: asyncio.Transport) -> None:
    """Close with a TCP reset, so that the peer cannot take it for a half-close."""
    sock = transport.get_extra_info("socket")
    if sock is not None and not transport.is_closing():
        _make_close_a_reset(sock)
    transport.abort()


def reset_once_sent(transport: asyncio.Transport) -> None:
    """Close with a TCP reset, but not before everything written has gone to the kernel."""
    sock = transport.get_extra_info("socket")
    if sock is not None and not transport.is_closing():
        _make_close_a_reset(sock)
    transport.close()


def is_reset(transport: asyncio.Transport) -> bool:
    """Whether the kernel has seen a reset that nobody has been told of yet.

    After the peer's FIN the event loop reads no more, and so hears of a reset only when
    it writes; the kernel's own state says it without sending anything.
    """
    sock = transport.get_extra_info("socket")
    if sock is None:
        return True
    try:
        info: bytes = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
    except (OSError, AttributeError):
        return False
    return info[0] == _TCP_CLOSED


def notice_a_lost_host(transport: asyncio.Transport) -> None:
    """Let the kernel ask whether the peer's host is still there while nothing comes from it.

    A host without power sends no reset. Who waits for its first byte would wait for the whole
    of that timeout, and nobody would be sent elsewhere.
    """
    sock = transport.get_extra_info("socket")
    if sock is None:
        return
    # It may be closed already, which uvloop's socket tells by a ValueError.
    with contextlib.suppress(OSError, ValueError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (
            ("TCP_KEEPIDLE", _PROBED_AFTER_S),
            ("TCP_KEEPINTVL", _PROBED_EVERY_S),
            ("TCP_KEEPCNT", _PROBES),
        ):
            # Not every system has all of them.
            if (option := getattr(socket, name, None)) is not None:
                sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _make_close_a_reset(sock: socket.socket) -> None:
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    except OSError:
        pass  # it is closed already


def listening_at(listeners: Iterable[socket.socket]) -> frozenset[tuple[str, int]]:
    """Return the addresses that sockets are bound to."""
    return frozenset(listener.getsockname()[:2] for listener in listeners)


def leads_to(transport: asyncio.Transport, listening: Collection[tuple[str, int]]) -> bool:
    """Whether a connection has reached one of these addresses that this process listens at.

    All addresses of a machine are too many to know; but who reaches his own machine has the
    same address at both ends, or is on its loopback at both.
    """
    peer = transport.get_extra_info("peername")
    if not peer or all(port != peer[1] for _, port in listening):
        return False
    if (peer[0], peer[1]) in listening:
        return True
    own = transport.get_extra_info("sockname")
    is_here = own[0] == peer[0] or (is_loopback(own[0]) and is_loopback(peer[0]))
    return is_here and any(port == peer[1] and is_unspecified(host) for host, port in listening)


def bind(host: str, port: int) -> list[socket.socket]:
    """Bind every address of `host`, on one port for all; raises OSError when none can be had.

    Port 0 takes a free one. `localhost` and names with two families get a socket each.
    """
    infos = socket.getaddrinfo(
        host or None,
        port,
        type=socket.SOCK_STREAM,
        flags=socket.AI_PASSIVE,
    )
    sockets: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, kind, proto, _, address in dict.fromkeys(infos):
            try:
                sock = socket.socket(family, kind, proto)
            except OSError as error:
                missing = error  # a family this host does not have
                continue
            sockets.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # All addresses means those of both families; one address means its own.
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(host != "::"))
            bound_port = port or (sockets[0].getsockname()[1] if len(sockets) > 1 else 0)
            try:
                sock.bind((address[0], bound_port, *address[2:]))
            except OSError:
                if family == socket.AF_INET6 and len(infos) > 1:
                    # Many containers have ::1 in their hosts file and no IPv6 at all.
                    sockets.remove(sock)
                    sock.close()
                    continue
                raise
            sock.setblocking(False)
        if not sockets and missing is not None:
            raise missing
    except OSError:
        for sock in sockets:
            sock.close()
        raise
    return sockets
