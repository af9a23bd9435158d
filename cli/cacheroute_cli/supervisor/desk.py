"""Where commands speak to a running supervisor: a socket that only its owner may open.

Each connection asks one thing. A reader that is too slow is dropped, never waited for; a
command that leaves does not take its change with it.
"""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from cacheroute_cli.diagnostics import Exit, Fault, UsageFault
from cacheroute_cli.supervisor.faults import StateLocked
from cacheroute_cli.supervisor.messages import (
    MAX_LINE_BYTES,
    Reply,
    Request,
    SpokenFault,
    encode,
    read_request,
    speak_fault,
)
from cacheroute_cli.supervisor.supervising import Supervisor

_WAIT_S = 5.0
_MAX_UNSENT_BYTES = 1024 * 1024


def listen_at(path: Path) -> socket.socket:
    """Listen on a socket file of mode 0600, over one that nobody listens on any more.

    Only for who holds the stack's lock. Raises OSError.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    # The address of a socket holds 107 bytes, a path of a descriptor always fits.
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    before = os.umask(0o177)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
        os.close(folder)
    listener.listen(64)
    return listener


class Desk:
    """Answers commands."""

    def __init__(self, supervisor: Supervisor, *, say: Callable[[str], None]) -> None:
        self._supervisor = supervisor
        self._say = say
        self._server: asyncio.Server | None = None
        self._answering: set[asyncio.Task[object]] = set()

    async def open(self, listener: socket.socket) -> None:
        """Take connections."""
        self._server = await asyncio.start_unix_server(
            self._on_connection, sock=listener, limit=MAX_LINE_BYTES
        )

    async def close(self) -> None:
        """Take no more, and let the last answers out."""
        if self._server is not None:
            self._server.close()
        if self._answering:
            _, late = await asyncio.wait(self._answering, timeout=_WAIT_S)
            for task in late:
                task.cancel()

    async def _on_connection(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - this runs in one
        self._answering.add(task)
        try:
            async with asyncio.timeout(_WAIT_S):
                line = await reader.readline()
            if line:
                await self._answer(line, reader, writer)
        except (TimeoutError, ValueError, OSError):
            pass  # it said nothing in time, too much, or has left
        finally:
            self._answering.discard(task)
            with suppress(OSError):
                writer.close()

    async def _answer(
        self, line: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        def send(reply: Reply) -> None:
            # Its socket is gone or full: the work goes on, and nobody hears of it.
            transport = writer.transport
            if not transport.is_closing() and transport.get_write_buffer_size() < _MAX_UNSENT_BYTES:
                writer.write(encode(reply))

        def tell(text: str) -> None:
            self._say(text)
            send(Reply(told=text))

        try:
            request = read_request(line)
            if request.do == "watch":
                await self._watch(reader, writer)
                return
            changed = await self._do(request, tell)
            send(Reply(done=True, changed=changed, snapshot=self._supervisor.statuses()))
        except msgspec.MsgspecError as problem:
            send(Reply(fault=speak_fault(UsageFault(f"the request is not understood: {problem}"))))
        except Fault as fault:
            send(Reply(fault=speak_fault(fault)))
        except asyncio.CancelledError:
            why = self._supervisor.ended_by or StateLocked("the stack was ended meanwhile")
            send(Reply(fault=speak_fault(why)))
        except Exception as problem:
            # A bug in one command must not end what is running.
            said = f"this is a bug in the supervisor: {type(problem).__name__}: {problem}"
            self._say(said)
            send(Reply(fault=SpokenFault(code="bug", exit=Exit.FAILED, message=said)))
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_WAIT_S):
                await writer.drain()

    async def _do(self, request: Request, tell: Callable[[str], None]) -> bool:
        supervisor = self._supervisor
        match request.do:
            case "apply":
                return await supervisor.apply(request, tell)
            case "start":
                return await supervisor.start(request, tell)
            case "stop":
                return await supervisor.stop(request, tell)
            case "restart":
                return await supervisor.restart(request, tell)
            case "down":
                await supervisor.down(grace_s=request.timeout_s, tell=tell)
                return True
            case _:
                supervisor.measure()
                return False

    async def _watch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        watchers = self._supervisor.watchers
        leaving = asyncio.ensure_future(reader.read(1))
        ending = asyncio.ensure_future(self._supervisor.finished.wait())
        waits: set[asyncio.Future[Any]] = {leaving, ending}
        try:
            with watchers.watching(self._supervisor.statuses()) as queue:
                while watchers.has(queue):
                    coming = asyncio.ensure_future(queue.get())
                    waits = {coming, leaving, ending}
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    if not coming.done():
                        break
                    writer.write(encode(coming.result()))
                    async with asyncio.timeout(_WAIT_S):
                        await writer.drain()
        finally:
            for wait in waits:
                wait.cancel()
