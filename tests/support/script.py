"""What a scripted backend says, step by step, so that a test reads like a conversation."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(frozen=True, slots=True)
class Write:
    """Put these bytes on the wire, in a segment of their own where the kernel allows."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Pause:
    """Say nothing for a while."""

    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """Say nothing until the test opens the gate: order is proven without a clock."""

    _opened: asyncio.Event = field(default_factory=asyncio.Event)

    def open(self) -> None:
        """Let whoever waits here go on."""
        self._opened.set()

    async def passed(self) -> None:
        """Wait until the gate is open."""
        await self._opened.wait()


@dataclass(frozen=True, slots=True)
class Reset:
    """Drop the connection with an RST."""


@dataclass(frozen=True, slots=True)
class Close:
    """End the connection with a FIN."""


@dataclass(frozen=True, slots=True)
class HalfClose:
    """End our sending side, but go on reading."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """Say nothing more until the peer leaves."""


Step = Write | Pause | Gate | Reset | Close | HalfClose | Freeze
Script = tuple[Step, ...]
Headers = Iterable[tuple[str, str]]

JSON = "application/json"
SSE = "text/event-stream"
END = Write(b"0\r\n\r\n")
"""The last chunk of a chunked answer."""


def head(status: int = 200, headers: Headers = ()) -> bytes:
    """Render a response head with exactly these headers."""
    phrase = HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Odd"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def chunk(data: bytes) -> Write:
    """Return one chunk of a chunked answer."""
    return Write(b"%x\r\n%b\r\n" % (len(data), data))


def stream_head(headers: Headers = (), content_type: str = SSE) -> Write:
    """Begin a chunked event stream."""
    lines = [("Content-Type", content_type), ("Transfer-Encoding", "chunked"), *headers]
    return Write(head(200, lines))


def stream(*events: bytes, headers: Headers = ()) -> Script:
    """Return a whole chunked event stream, each piece in a write of its own."""
    return (stream_head(headers), *map(chunk, events), END)


def answer(
    body: bytes = b"",
    status: int = 200,
    content_type: str | None = JSON,
    headers: Headers = (),
) -> Script:
    """Return an answer with a Content-Length, in one write."""
    lines = [("Content-Type", content_type)] if content_type else []
    lines += [("Content-Length", str(len(body))), *headers]
    return (Write(head(status, lines) + body),)


def json_answer(value: object, status: int = 200, headers: Headers = ()) -> Script:
    """Return a JSON answer with a Content-Length."""
    return answer(json.dumps(value).encode(), status, headers=headers)
