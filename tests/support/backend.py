"""An Instance that does as it is told, byte by byte, and remembers what it saw.

Health, model list and metrics are pages that answer by themselves and are kept apart
from the requests of clients, so that `requests` counts only what the Proxy forwarded.
"""

import asyncio
import contextlib
import hashlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tests.support.openai_shapes import MODEL, completion
from tests.support.script import (
    Close,
    Freeze,
    Gate,
    HalfClose,
    Pause,
    Reset,
    Script,
    Write,
    answer,
    json_answer,
)
from tests.support.waiting import eventually
from tests.support.wire import Body, Head, Malformed, request_body, take_head

_RST = struct.pack("ii", 1, 0)
"""SO_LINGER on with 0 s: closing sends an RST."""


@dataclass(slots=True, eq=False)
class Received:
    """One request, as it came in, and what became of its answer."""

    head: Head
    body: bytes
    connection: int
    """Which connection it came on, counted from 0."""
    writes: list[float] = field(default_factory=list)
    """When each `Write` of the script went out, in seconds of the event loop's clock."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the peer has left before the script was over."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the script is over, one way or the other."""

    @property
    def method(self) -> str:
        """The method, for example `POST`."""
        return self.head.start.split(b" ")[0].decode()

    @property
    def target(self) -> str:
        """Path and query, as sent."""
        return self.head.start.split(b" ")[1].decode("latin-1")

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    @property
    def sha256(self) -> str:
        """Digest of the raw body."""
        return hashlib.sha256(self.body).hexdigest()

    def json(self) -> Any:
        """Return the body, read as JSON."""
        return json.loads(self.body)


Reply = Script | Callable[[Received], Script]
OnAccept = Literal["serve", "close", "reset", "freeze"]
OnReuse = Literal["serve", "close", "reset"]


@dataclass(slots=True, eq=False)
class ScriptedBackend:
    """A server on a loopback port that plays a script per request."""

    reply: Reply = field(default_factory=lambda: json_answer(completion()))
    """What inference requests are told, now; may be changed while running."""
    host: str = "127.0.0.1"
    on_accept: OnAccept = "serve"
    """What happens to a new connection."""
    on_reuse: OnReuse = "serve"
    """What happens when a second request comes on a kept connection."""
    idle_close_s: float | None = None
    """How long an idle kept connection is left open; None is for ever."""
    base: str = ""
    """A prefix that every path must have, for example `/base`; others get 404."""
    pages: dict[str, Script] = field(default_factory=dict)
    """Answers to paths that are not inference; see `set_models` for one of them."""
    requests: list[Received] = field(default_factory=list)
    """Inference requests, in order of arrival."""
    probes: list[Received] = field(default_factory=list)
    """Requests for pages, in order of arrival."""
    port: int = 0
    connections: int = 0
    """How many connections were ever accepted."""
    most_open: int = 0
    running: int = 0
    """Inference scripts being played."""
    most_running: int = 0
    faults: list[BaseException] = field(default_factory=list)
    """What was wrong with requests or scripts; anything here fails the test at the end."""
    _open: "set[_Connection]" = field(default_factory=set)
    _server: asyncio.Server | None = None

    def __post_init__(self) -> None:
        self.pages.setdefault("/health", answer(content_type=None))
        self.pages.setdefault("/metrics", answer(b"", content_type="text/plain"))
        if "/v1/models" not in self.pages:
            self.set_models(MODEL)

    @property
    def url(self) -> str:
        """Base address of this backend."""
        return f"http://{self.authority}"

    @property
    def authority(self) -> str:
        """Host and port, with brackets where IPv6 needs them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def instance_id(self) -> str:
        """The id that the Proxy gives an Instance without one."""
        return f"hp_{self.authority}"

    @property
    def open_sockets(self) -> int:
        """Connections that are open now."""
        return len(self._open)

    def set_models(self, *names: str) -> None:
        """Change what the model list answers."""
        rows = [{"id": name, "object": "model", "created": 1, "owned_by": "b"} for name in names]
        self.pages["/v1/models"] = json_answer({"object": "list", "data": rows})

    async def listen(self) -> None:
        """Open the port; the same one again after `refuse`."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(self), self.host, self.port, backlog=1024, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Close the port and every connection: new ones are refused, as after a crash."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._open):
            connection.reset()

    async def received(self, count: int = 1, *, within_s: float = 5.0) -> Received:
        """Wait until `count` inference requests have come; return the last of them."""
        await eventually(lambda: len(self.requests) >= count, within_s=within_s)
        return self.requests[count - 1]

    async def closed_down_to(self, sockets: int, *, within_s: float = 5.0) -> None:
        """Wait until no more than this many connections are open."""
        await eventually(lambda: len(self._open) <= sockets, within_s=within_s)

    def script_for(self, received: Received) -> Script:
        """Choose what to say, and note the request."""
        path = received.path
        inside = path.startswith(self.base) and "//" not in path
        page = self.pages.get(path.removeprefix(self.base)) if inside else None
        if page is not None:
            self.probes.append(received)
            return page
        self.requests.append(received)
        if not inside:
            return json_answer({"error": {"message": f"no such path {path}"}}, 404)
        return self.reply(received) if callable(self.reply) else self.reply


class _Connection(asyncio.Protocol):
    """One accepted socket: requests in, scripts out, in turn."""

    def __init__(self, backend: ScriptedBackend) -> None:
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
        backend._open.add(self)
        backend.most_open = max(backend.most_open, len(backend._open))
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
        self._backend._open.discard(self)
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
            if self._head.one("expect"):
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._data += self._body.take(self._buffer)
        if self._body.done:
            received = Received(self._head, bytes(self._data), self._number)
            self._head, self._data = None, bytearray()
            self._cancel_idle()
            script = self._backend.script_for(received)
            counted = received in self._backend.requests[-1:]
            self._received = received
            backend = self._backend
            backend.running += counted
            backend.most_running = max(backend.most_running, backend.running)
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


@contextlib.asynccontextmanager
async def scripted(
    reply: Reply | None = None,
    **given: Any,
) -> AsyncIterator[ScriptedBackend]:
    """Run a backend for as long as the block lasts."""
    backend = ScriptedBackend(**given) if reply is None else ScriptedBackend(reply, **given)
    await backend.listen()
    try:
        yield backend
    finally:
        backend.refuse()
        await eventually(lambda: not (backend.open_sockets or backend.running))
        assert not backend.faults, backend.faults


@contextlib.asynccontextmanager
async def refusing(host: str = "127.0.0.1") -> AsyncIterator[str]:
    """Hold a port that refuses every connection; yields its base address."""
    with socket.socket() as sock:
        sock.bind((host, 0))
        yield f"http://{host}:{sock.getsockname()[1]}"


@contextlib.asynccontextmanager
async def unreachable() -> AsyncIterator[str]:
    """Hold a port on which connecting never ends, as behind a silent firewall."""
    with socket.socket() as listener, contextlib.ExitStack() as fillers:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            filler = fillers.enter_context(socket.socket())
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
