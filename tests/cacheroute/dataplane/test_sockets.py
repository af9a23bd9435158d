"""What we ask of sockets below their transports."""

import asyncio
import socket

import pytest

from cacheroute.dataplane import sockets
from cacheroute.dataplane.sockets import GONE_AFTER_S, bind, notice_a_lost_host
from tests.cacheroute.dataplane.wire_parts import PING, both_loops, hold, serving
from tests.support.client import connected
from tests.support.waiting import eventually


def has_ipv6() -> bool:
    """Whether this host has an IPv6 loopback."""
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


def closed(bound: list[socket.socket]) -> list[tuple[socket.AddressFamily, str, int]]:
    """Close sockets; returns the family, address and port of each."""
    found = [(sock.family, *sock.getsockname()[:2]) for sock in bound]
    for sock in bound:
        sock.close()
    return found


def test_port_0_takes_a_free_one() -> None:
    ((family, host, port),) = closed(bind("127.0.0.1", 0))
    assert (family, host) == (socket.AF_INET, "127.0.0.1")
    assert port > 0


def test_a_name_is_bound_in_every_family_on_one_port() -> None:
    found = closed(bind("localhost", 0))
    assert len({port for _, _, port in found}) == 1
    assert {host for _, host, _ in found} <= {"127.0.0.1", "::1"}
    assert len(found) == len({host for _, host, _ in found})


def test_a_bound_socket_does_not_block() -> None:
    (sock,) = bind("127.0.0.1", 0)
    assert not sock.getblocking()
    sock.close()


@pytest.mark.skipif(not has_ipv6(), reason="no IPv6 here")
@pytest.mark.parametrize(("host", "only_v6"), [("::", 0), ("::1", 1)])
def test_all_ipv6_addresses_means_those_of_both_families(host: str, only_v6: int) -> None:
    (sock,) = bind(host, 0)
    assert sock.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == only_v6
    sock.close()


def test_a_taken_port_is_an_error_and_leaves_nothing_open() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match="in use"):
            bind("127.0.0.1", port)
        with pytest.raises(OSError, match="in use"):
            bind("localhost", port)


def test_a_port_in_time_wait_can_be_bound_again() -> None:
    (listener,) = bind("127.0.0.1", 0)
    listener.listen()
    listener.setblocking(True)
    address = listener.getsockname()
    with socket.create_connection(address) as client:
        accepted, _ = listener.accept()
        accepted.close()
        listener.close()
        assert client.recv(1) == b""
    ((_, _, port),) = closed(bind(*address))
    assert port == address[1]


def test_an_address_that_is_not_ours_is_an_error() -> None:
    with pytest.raises(OSError, match=r"assign|address"):
        bind("192.0.2.1", 0)


def test_a_family_that_this_host_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    info = (99, socket.SOCK_STREAM, 0, "", ("::1", 0))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [info])
    with pytest.raises(OSError, match="supported"):
        bind("::1", 0)


@both_loops
async def test_a_reset_is_seen_as_one_by_the_peer() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        await served.connected(1)
        sockets.reset(served.connection._transport)
        assert (await client.disconnected()).ended == "reset"


@both_loops
async def test_resetting_what_is_closed_already_is_harmless() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        await served.connected(1)
        transport = served.connection._transport
        transport.close()
        sockets.reset(transport)
        await client.disconnected()
        await served.connected(0)
        sockets.reset(transport)


@both_loops
async def test_a_reset_is_told_from_a_half_close_without_sending_anything() -> None:
    async with serving(hold) as served, connected(served.port) as client:
        client.send(PING)
        await served.request()
        connection = served.connection
        transport = connection._transport
        assert not sockets.is_reset(transport)
        client.half_close()
        await eventually(lambda: connection._eof)
        assert not sockets.is_reset(transport)
        client.reset()
        await eventually(lambda: sockets.is_reset(transport))
        transport.abort()


async def test_a_transport_without_a_socket_counts_as_reset() -> None:
    class Bare(asyncio.Transport):
        pass

    assert sockets.is_reset(Bare())
    sender, receiver = socket.socketpair()
    with sender, receiver:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=sender)
        # A socket of another kind has no such state; it is not for us to end it.
        assert not sockets.is_reset(transport)
        transport.close()
        await asyncio.sleep(0)


async def test_a_host_that_falls_silent_is_asked_for_within_a_minute() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with listener:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(asyncio.Protocol, *listener.getsockname()[:2])
        notice_a_lost_host(transport)
        sock = transport.get_extra_info("socket")

        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        after_s = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
        every_s = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL)
        probes = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT)
        assert after_s + every_s * probes == GONE_AFTER_S <= 60
        transport.abort()


@both_loops
async def test_a_connection_that_is_closed_already_has_no_host_to_ask_for() -> None:
    """Whoever connects would else fail after the connection is made, and tell nobody."""
    listener = socket.create_server(("127.0.0.1", 0))
    with listener:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(asyncio.Protocol, *listener.getsockname()[:2])
        transport.abort()
        await eventually(lambda: transport.get_extra_info("socket").fileno() == -1)
        notice_a_lost_host(transport)
