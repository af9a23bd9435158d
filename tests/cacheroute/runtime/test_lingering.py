"""What was said last arrives, although the client is still sending."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import cast

import pytest

from cacheroute.runtime import lingering
from cacheroute.runtime.lingering import LingeringTransport
from tests.support.waiting import eventually

LAST = b"this is the end\n"


class Side(asyncio.Protocol):
    """A server's side that drops what comes once it is over."""

    def __init__(self, *, may_be_unread: bool) -> None:
        self.may_be_unread = may_be_unread
        self.transport: LingeringTransport
        self.got = 0
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        loop = asyncio.get_running_loop()
        self.transport = LingeringTransport(
            cast(asyncio.Transport, transport), loop, lambda: self.may_be_unread
        )

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_over:
            self.got += len(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport.lost()
        self.is_lost = True


@contextlib.asynccontextmanager
async def joined(
    *, may_be_unread: bool = True
) -> AsyncIterator[tuple[Side, asyncio.StreamReader, asyncio.StreamWriter]]:
    sides: list[Side] = []

    def side() -> Side:
        sides.append(Side(may_be_unread=may_be_unread))
        return sides[0]

    server = await asyncio.get_running_loop().create_server(side, "127.0.0.1", 0)
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        await eventually(lambda: len(sides) == 1)
        try:
            yield sides[0], reader, writer
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            await eventually(lambda: sides[0].is_lost)


async def test_the_last_words_arrive_before_what_is_still_sent_is_looked_at() -> None:
    async with joined() as (side, reader, writer):
        writer.write(bytes(1000))
        await eventually(lambda: side.got == 1000)
        side.transport.pause_reading()
        writer.write(bytes(1_000_000))
        side.transport.write(LAST)
        side.transport.close()
        assert side.transport.is_closing()
        assert await reader.read() == LAST
        assert side.got == 1000


async def test_nothing_is_said_after_the_end() -> None:
    async with joined() as (side, reader, _):
        side.transport.close()
        side.transport.close()
        side.transport.write(LAST)
        side.transport.writelines([LAST])
        side.transport.pause_reading()
        assert await reader.read() == b""


async def test_where_nothing_can_be_unread_it_is_closed_at_once() -> None:
    async with joined(may_be_unread=False) as (side, reader, _):
        side.transport.write(LAST)
        side.transport.close()
        assert not side.transport.is_over
        assert await reader.read() == LAST
        await eventually(lambda: side.is_lost)


async def test_who_does_not_stop_sending_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lingering, "LINGER_S", 0.02)
    async with joined() as (side, reader, _):
        side.transport.write(LAST)
        side.transport.close()
        assert await reader.read() == LAST
        await eventually(lambda: side.is_lost)


async def test_whoever_leaves_first_is_not_waited_for() -> None:
    async with joined() as (side, reader, writer):
        side.transport.close()
        assert await reader.read() == b""
        writer.close()
        await eventually(lambda: side.is_lost)
        timer = side.transport._timer
        assert timer is not None
        assert timer.cancelled()
