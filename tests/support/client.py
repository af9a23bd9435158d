"""A client that writes what a test wants on the wire and notes what came back, and when."""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tests.support.openai_shapes import CHAT
from tests.support.sse import Event, events
from tests.support.wire import Body, Framing, Head, Malformed, response_body, take_head

_RST = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Piece:
    """Body bytes that came together."""

    at_s: float
    """When, in seconds of the event loop's clock."""
    data: bytes


@dataclass(slots=True, eq=False)
class Answer:
    """One response, as far as it has come."""

    method: str
    head: Head | None = None
    interim: list[Head] = field(default_factory=list)
    """1xx heads that came first."""
    framing: Framing = "none"
    pieces: list[Piece] = field(default_factory=list)
    whole: bool = False
    """Whether the body has ended as its framing says it must."""
    ended: Literal["fin", "reset"] | None = None
    """How the connection ended, if it has."""

    @property
    def status(self) -> int:
        """The status code; there must be a head by now."""
        assert self.head is not None, f"no head came; the connection ended by {self.ended}"
        return int(self.head.start.split(b" ")[1])

    @property
    def body(self) -> bytes:
        """The body so far, without its framing."""
        return b"".join(piece.data for piece in self.pieces)

    @property
    def cut(self) -> bool:
        """Whether the connection ended before the answer did."""
        return self.ended is not None and not self.whole

    @property
    def events(self) -> list[Event]:
        """The server-sent events so far."""
        return events(self.body)

    def header(self, name: str) -> str | None:
        """Return the value of a header that may be there once."""
        assert self.head is not None
        value = self.head.one(name)
        return None if value is None else value.decode("latin-1")

    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The error object of an answer that must be one, with OpenAI's four keys."""
        error = self.json()["error"]
        assert isinstance(error, dict)
        assert {"message", "type", "param", "code"} <= error.keys(), error
        return error


class RawClient(asyncio.Protocol):
    """One connection; every answer read is noted in `answer`, the newest one."""

    def __init__(self) -> None:
        self.answer = Answer("GET")
        self.surplus = bytearray()
        """Bytes that came after the answer; the next one begins with them."""
        self._body: Body | None = None
        self._buffer = bytearray()
        self._news = asyncio.Event()
        self._fault: Malformed | None = None
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            self._read()
        except Malformed as fault:
            self._fault = fault
        self._news.set()

    def eof_received(self) -> bool:
        self._end("fin")
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        self._end("fin" if exc is None else "reset")

    def _end(self, how: Literal["fin", "reset"]) -> None:
        if self.answer.ended is None:
            self.answer.ended = how
        if self._body is not None and self._body.framing == "eof" and how == "fin":
            self.answer.whole = True
        self._news.set()

    def _read(self) -> None:
        answer = self.answer
        while self._body is None and not answer.whole:
            head = take_head(self._buffer)
            if head is None:
                return
            if head.start.split(b" ")[1].startswith(b"1"):
                answer.interim.append(head)
                continue
            answer.head = head
            self._body = response_body(head, answer.method)
            answer.framing = self._body.framing
        if self._body is not None:
            data = self._body.take(self._buffer)
            if data:
                answer.pieces.append(Piece(asyncio.get_running_loop().time(), data))
            if self._body.done:
                answer.whole = True
                self._body = None
        if answer.whole:
            self.surplus += self._buffer
            self._buffer.clear()

    def send(self, data: bytes) -> None:
        """Write raw bytes."""
        self._transport.write(data)

    def ask(
        self,
        method: str = "GET",
        target: str = "/health",
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> Answer:
        """Send a request and return its answer, which fills as bytes come in."""
        lines = [f"{method} {target} HTTP/1.1", *(f"{key}: {value}" for key, value in headers)]
        names = {line.partition(":")[0].lower() for line in lines[1:]}
        if "host" not in names:
            lines.append("Host: proxy.test")
        if body is not None and not names & {"content-length", "transfer-encoding"}:
            lines.append(f"Content-Length: {len(body)}")
        if body is not None and "content-type" not in names:
            lines.append("Content-Type: application/json")
        self.expect(method)
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""))
        return self.answer

    def expect(self, method: str = "POST") -> Answer:
        """Be ready for the next answer; pipelined bytes that are here already are read now."""
        self.answer = Answer(method, ended=self.answer.ended)
        self._body = None
        self._buffer, self.surplus = self.surplus + self._buffer, bytearray()
        self._read()
        return self.answer

    async def until(
        self, predicate: Callable[[Answer], object], *, within_s: float = 5.0
    ) -> Answer:
        """Wait until the answer is as wanted; a connection that ends first is a failure."""
        answer = self.answer
        async with asyncio.timeout(within_s):
            while not predicate(answer):
                assert not answer.ended, f"ended by {answer.ended}; so far {answer.body!r}"
                await self._next()
        return answer

    async def body_of(self, size: int, *, within_s: float = 5.0) -> bytes:
        """Wait for this many body bytes, and return all that came."""
        return (await self.until(lambda a: len(a.body) >= size, within_s=within_s)).body

    async def over(self, *, within_s: float = 10.0) -> Answer:
        """Wait until the answer is whole or the connection has ended."""
        answer = self.answer
        async with asyncio.timeout(within_s):
            while not (answer.whole or answer.ended):
                await self._next()
        return answer

    async def disconnected(self, *, within_s: float = 5.0) -> Answer:
        """Wait until the peer has ended the connection."""
        async with asyncio.timeout(within_s):
            while not self.answer.ended:
                await self._next()
        return self.answer

    async def _next(self) -> None:
        self._news.clear()
        await self._news.wait()
        if self._fault is not None:
            raise self._fault

    def stop_reading(self) -> None:
        """Let what comes pile up in the kernel, as a client does that is too slow."""
        self._transport.pause_reading()

    def read_on(self) -> None:
        """Read again."""
        self._transport.resume_reading()

    def half_close(self) -> None:
        """End our sending side, and go on reading."""
        self._transport.write_eof()

    def close(self) -> None:
        """Leave with a FIN."""
        self._transport.close()

    def reset(self) -> None:
        """Leave with an RST."""
        sock = self._transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST)
        self._transport.abort()


@contextlib.asynccontextmanager
async def connected(port: int, host: str = "127.0.0.1") -> AsyncIterator[RawClient]:
    """Hold one connection for as long as the block lasts."""
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(RawClient, host, port)
    try:
        yield client
    finally:
        client.close()


async def fetch(
    port: int,
    method: str,
    target: str,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes | None = None,
    *,
    host: str = "127.0.0.1",
    within_s: float = 10.0,
) -> Answer:
    """Ask once on a connection of its own, and wait for the end of the answer."""
    async with connected(port, host) as client:
        client.ask(method, target, headers, body)
        answer = await client.over(within_s=within_s)
        assert not client.surplus, f"bytes after the answer: {bytes(client.surplus)!r}"
        return answer


async def post(
    port: int,
    body: bytes,
    target: str = CHAT,
    headers: Iterable[tuple[str, str]] = (),
    *,
    within_s: float = 10.0,
) -> Answer:
    """Post a JSON body once, and wait for the end of the answer."""
    return await fetch(port, "POST", target, headers, body, within_s=within_s)
