"""Answers without an end: pieces as they come, and a refusal before any."""

import socket

import pytest

from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import NotUnderstood, Refused, TimedOut, Unreachable
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer

OPEN = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"


async def test_both_clients_hand_on_what_comes_until_the_end() -> None:
    with a_peer_saying(OPEN + b"one two") as url:
        with ControlClient(url) as client:
            assert b"".join(client.pieces("/x")) == b"one two"
        async with AsyncControlClient(url) as asking:
            assert b"".join([piece async for piece in asking.pieces("/x")]) == b"one two"


async def test_a_refusal_is_read_and_told() -> None:
    body = b'{"error":"too_many_readers","detail":"Eight."}'
    with a_peer_saying(answer(body, status="503 No")) as url:
        with ControlClient(url) as client, pytest.raises(Refused, match="Eight"):
            next(client.pieces("/x"))
        async with AsyncControlClient(url) as asking:
            with pytest.raises(Refused, match="Eight"):
                await anext(asking.pieces("/x"))


async def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    with ControlClient(url) as client, pytest.raises(Unreachable):
        next(client.pieces("/x"))
    async with AsyncControlClient(url) as asking:
        with pytest.raises(Unreachable):
            await anext(asking.pieces("/x"))


class Hasty(ControlClient):
    """Has less patience."""

    max_silence_s = 0.05


class HastyAsync(AsyncControlClient):
    """Has less patience."""

    max_silence_s = 0.05


async def test_one_that_goes_silent_is_given_up() -> None:
    def say_one_thing(_: bytes, connection: socket.socket) -> None:
        connection.sendall(OPEN + b"one")
        connection.recv(1)

    with a_peer(say_one_thing) as url:
        with Hasty(url) as client:
            pieces = client.pieces("/x")
            assert next(pieces) == b"one"
            with pytest.raises(TimedOut, match=r"within 0\.05 s"):
                next(pieces)
        async with HastyAsync(url) as asking:
            stream = asking.pieces("/x")
            assert await anext(stream) == b"one"
            with pytest.raises(TimedOut):
                await anext(stream)


async def test_a_refusal_without_an_end_is_cut_at_the_bound() -> None:
    def flood(_: bytes, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 No\r\n\r\n")
        while True:
            connection.sendall(b" " * 65_536)

    with a_peer(flood) as url:
        with ControlClient(url, max_reply_bytes=1_000) as client, pytest.raises(NotUnderstood):
            next(client.pieces("/x"))
        async with AsyncControlClient(url, max_reply_bytes=1_000) as asking:
            with pytest.raises(NotUnderstood, match="larger than 1000 bytes"):
                await anext(asking.pieces("/x"))
