"""Answers without an end: pieces as they come, and a refusal before any."""

import socket

import pytest

from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import Refused, Unreachable
from tests.cacheroute.client.canned import a_peer_saying, answer

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
