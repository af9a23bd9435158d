"""One socket that a scripted backend has accepted: requests in, scripts out, in turn."""

import asyncio
import contextlib
import socket
import struct
from typing import TYPE_CHECKING, cast

from tests.support.received import Received
from tests.support.script import Close, Freeze, Gate, HalfClose, Pause, Reset, Script, Write
from tests.support.wire import Body, Head, Malformed, request_body, take_head

if TYPE_CHECKING:
    from tests.support.backend import ScriptedBackend

_RST = struct.pack("ii", 1, 0)
"""SO_LINGER on with 0 s: closing sends an RST."""


class BackendConnection(asyncio.Protocol):
    """The server side of one connection."""

    def __init__(self, backend: "ScriptedBackend") -> None:
        self._backend = backend
        self._number = backend.connections
        backend.connections += 1
        self._buffer = bytearray()
        self._head: Head | None = None
        self._body = Body("none")
        self._data = bytearray()
        self._answered = 0
        self._playing: asyncio.Task[None] | None = None
        self._received: Received | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._leaving = False
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        backend = self._backend
        backend.open.add(self)
        backend.most_open = max(backend.most_open, len(backend.open))
        match backend.on_accept:
            case "close":
                transport.close()
            case "reset":
                self.reset()
            case "serve" | "freeze":
                pass

    def reset(self) -> None:
        """Send an RST and be gone."""
        self._leaving = True
        sock = self._transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST)
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._backend.on_accept == "freeze":
            return
        self._buffer += data
        try:
            self._read()
        except Malformed as fault:
            self._backend.faults.append(fault)
            self.reset()

    def eof_received(self) -> None:
        self._peer_left()

    def connection_lost(self, exc: Exception | None) -> None:
        self._backend.open.discard(self)
        self._peer_left()
        self._cancel_idle()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def _peer_left(self) -> None:
        if self._playing is not None and self._received is not None:
            if not self._leaving:
                self._received.gone.set()
            self._playing.cancel()

    def _refuse_reuse(self) -> None:
        if self._backend.on_reuse == "reset":
            self.reset()
        else:
            self._leaving = True
            self._transport.close()

    def _read(self) -> None:
        if self._playing is not None:
            return
        if self._answered and self._buffer and self._backend.on_reuse != "serve":
            self._refuse_reuse()
            return
        if self._head is None:
            self._head = take_head(self._buffer)
            if self._head is None:
                return
            self._body = request_body(self._head)
            if self._backend.early is not None and self._head.start.startswith(b"POST"):
                self._body.done = True
            if self._head.one("expect"):
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not self._body.done:
            self._data += self._body.take(self._buffer)
        if self._body.done:
            received = Received(self._head, bytes(self._data), self._number)
            self._head, self._data = None, bytearray()
            self._cancel_idle()
            self._begin(received)

    def _begin(self, received: Received) -> None:
        backend = self._backend
        script = backend.script_for(received)
        counted = received in backend.requests[-1:]
        backend.running += counted
        backend.most_running = max(backend.most_running, backend.running)
        self._received = received
        self._playing = asyncio.get_running_loop().create_task(self._play(script, received))
        self._playing.add_done_callback(lambda task: self._played(task, received, counted))

    def _played(self, task: asyncio.Task[None], received: Received, counted: bool) -> None:
        self._backend.running -= counted
        if not task.cancelled() and (error := task.exception()) is not None:
            self._backend.faults.append(error)
        received.done.set()
        self._playing = self._received = None
        self._answered += 1
        if not self._transport.is_closing():
            self._stay()

    def _stay(self) -> None:
        if self._backend.idle_close_s is not None:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._backend.idle_close_s, self._transport.close)
        self._read()

    def _cancel_idle(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    async def _play(self, script: Script, received: Received) -> None:
        for step in script:
            match step:
                case Write(data):
                    received.writes.append(asyncio.get_running_loop().time())
                    self._transport.write(data)
                    await asyncio.sleep(0)
                    await self._writable.wait()
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                case Gate():
                    await step.passed()
                case Reset():
                    self.reset()
                case Close():
                    self._leaving = True
                    self._transport.close()
                case HalfClose():
                    self._transport.write_eof()
                case Freeze():
                    await received.gone.wait()
