"""An Instance that does as it is told, byte by byte, and remembers what it saw.

Health, model list and metrics are pages that answer by themselves and are kept apart
from the requests of clients, so that `requests` counts only what the Proxy forwarded.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.support.connection import BackendConnection
from tests.support.openai_shapes import MODEL, completion
from tests.support.received import Received
from tests.support.script import Close, Script, answer, json_answer
from tests.support.waiting import eventually

Reply = Script | Callable[[Received], Script]
OnAccept = Literal["serve", "close", "reset", "freeze"]
OnReuse = Literal["serve", "close", "reset"]


def page(body: bytes, content_type: str) -> Script:
    """Return the answer to a probe; it leaves no connection behind for a request to find."""
    return (*answer(body, content_type=content_type, headers=[("Connection", "close")]), Close())


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
    early: Script | None = None
    """What is said as soon as a request head is there, before its body is read."""
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
    open: set[BackendConnection] = field(default_factory=set)
    _server: asyncio.Server | None = None

    def __post_init__(self) -> None:
        self.pages.setdefault("/health", page(b"", "text/plain"))
        self.pages.setdefault("/metrics", page(b"", "text/plain"))
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
        return len(self.open)

    def set_models(self, *names: str) -> None:
        """Change what the model list answers."""
        rows = [{"id": name, "object": "model", "created": 1, "owned_by": "b"} for name in names]
        listed = json.dumps({"object": "list", "data": rows}).encode()
        self.pages["/v1/models"] = page(listed, "application/json")

    async def listen(self) -> None:
        """Open the port; the same one again after `refuse`."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: BackendConnection(self), self.host, self.port, backlog=1024, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    def refuse(self) -> None:
        """Close the port and every connection: new ones are refused, as after a crash."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self.open):
            connection.reset()

    async def received(self, count: int = 1, *, within_s: float = 5.0) -> Received:
        """Wait until `count` inference requests have come; return the last of them."""
        await eventually(lambda: len(self.requests) >= count, within_s=within_s)
        return self.requests[count - 1]

    async def closed_down_to(self, sockets: int, *, within_s: float = 5.0) -> None:
        """Wait until no more than this many connections are open."""
        await eventually(lambda: len(self.open) <= sockets, within_s=within_s)

    def script_for(self, received: Received) -> Script:
        """Choose what to say, and note the request."""
        path = received.path
        inside = path.startswith(self.base) and "//" not in path
        of_page = self.pages.get(path.removeprefix(self.base)) if inside else None
        if of_page is not None:
            self.probes.append(received)
            return of_page
        self.requests.append(received)
        if not inside:
            return json_answer({"error": {"message": f"no such path {path}"}}, 404)
        if self.early is not None:
            return self.early
        return self.reply(received) if callable(self.reply) else self.reply


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
