"""What a console asks, once a second or by a stream, and both clients' methods for it.

What it reads with every look is large or counted, so it is decoded straight into structs; the
page of one Instance alone needs the models of the published pages.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Generator, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import quote

from cacheroute.client.answer import why_not
from cacheroute.client.ask import Ask
from cacheroute.client.faults import NotUnderstood
from cacheroute.client.later import later
from cacheroute.formats.sse import Event, SseScanner
from cacheroute.wire import paths

if TYPE_CHECKING:
    from cacheroute.wire import console as documents
    from cacheroute.wire import console_reading as reading
    from cacheroute.wire import decisions as choices
    from cacheroute.wire import instance_page as pages
    from cacheroute.wire import links as paths_to_nodes
    from cacheroute.wire import traces as stories
    from cacheroute.wire.console import ConsoleSnapshot, Unchanged
    from cacheroute.wire.decisions import DecisionsReply
    from cacheroute.wire.instance_page import InstancePage
    from cacheroute.wire.links import KdnLinksReply, TopologyReply
    from cacheroute.wire.traces import TracesReply
else:
    documents, choices = later("cacheroute.wire.console"), later("cacheroute.wire.decisions")
    stories, paths_to_nodes = later("cacheroute.wire.traces"), later("cacheroute.wire.links")
    pages = later("cacheroute.wire.instance_page")
    reading = later("cacheroute.wire.console_reading")

T = TypeVar("T")

_MAX_EVENT_BYTES = 64 * 1024 * 1024


def snapshot_path(known: ConsoleSnapshot | None) -> str:
    """Return the path that asks for what is new since a document."""
    if known is None:
        return paths.CONSOLE_SNAPSHOT
    return f"{paths.CONSOLE_SNAPSHOT}?since={known.rev}&who={known.who}"


def instance(instance_id: str) -> Ask[InstancePage]:
    """Everything about one Instance."""
    path = f"{paths.CONSOLE_INSTANCE}?id={quote(instance_id, safe='')}"
    return Ask(path=path, reply=pages.InstancePage)


def decisions(*, last: int, since: int | None = None) -> Ask[DecisionsReply]:
    """Which Instance got which request lately, and why; `since` is the last that is known."""
    path = f"{paths.DEBUG_DECISIONS}?last={last}{_after(since)}"
    return Ask(path=path, reply=choices.DecisionsReply)


def traces(*, last: int, since: int | None = None) -> Ask[TracesReply]:
    """How the last requests went."""
    path = f"{paths.DEBUG_TRACES}?last={last}{_after(since)}"
    return Ask(path=path, reply=stories.TracesReply)


def _after(since: int | None) -> str:
    return "" if since is None else f"&since={since}"


def trace(request_id: str) -> Ask[TracesReply]:
    """How one request went."""
    path = f"{paths.DEBUG_TRACES}?request_id={quote(request_id, safe='')}"
    return Ask(path=path, reply=stories.TracesReply)


def kdn_links() -> Ask[KdnLinksReply]:
    """Return the question for the best links to knowledge nodes."""
    return Ask(path=paths.TOPOLOGY_KDN_LINKS, reply=paths_to_nodes.KdnLinksReply)


def topology() -> Ask[TopologyReply]:
    """Return the question for all links to knowledge nodes."""
    return Ask(path=paths.DEBUG_TOPOLOGY, reply=paths_to_nodes.TopologyReply)


class _Asks(Protocol):
    @property
    def base_url(self) -> str: ...
    def ask(self, ask: Ask[T]) -> T: ...
    def raw(self, path: str) -> bytes: ...
    def pieces(self, path: str) -> Iterator[bytes]: ...


class _AsksLater(Protocol):
    @property
    def base_url(self) -> str: ...
    def ask(self, ask: Ask[T]) -> Awaitable[T]: ...
    def raw(self, path: str) -> Awaitable[bytes]: ...
    def pieces(self, path: str) -> AsyncIterator[bytes]: ...


class ConsoleCalls:
    """The questions, for a client that asks and waits."""

    def console_snapshot(
        self: _Asks, known: ConsoleSnapshot | None = None
    ) -> ConsoleSnapshot | Unchanged:
        """`GET /v1/console/snapshot`; `known` is the last document, whose rest is filled in."""
        path = snapshot_path(known)
        return _read(self.raw(path), known, self.base_url + path)

    def console_stream(self: _Asks) -> Generator[ConsoleSnapshot, None, None]:
        """`GET /v1/console/stream`; ends when the Proxy does."""
        reader = _StreamReader(self.base_url + paths.CONSOLE_STREAM)
        for piece in self.pieces(paths.CONSOLE_STREAM):
            yield from reader.read(piece)

    def instance(self: _Asks, instance_id: str) -> InstancePage:
        """`GET /v1/console/instance`."""
        return self.ask(instance(instance_id))

    def decisions(self: _Asks, *, last: int = 20, since: int | None = None) -> DecisionsReply:
        """`GET /debug/decisions`."""
        return self.ask(decisions(last=last, since=since))

    def kdn_links(self: _Asks) -> KdnLinksReply:
        """`GET /v1/topology/kdn_links`."""
        return self.ask(kdn_links())

    def topology(self: _Asks) -> TopologyReply:
        """`GET /debug/topology`."""
        return self.ask(topology())

    def traces(self: _Asks, *, last: int = 50, since: int | None = None) -> TracesReply:
        """`GET /debug/traces`."""
        return self.ask(traces(last=last, since=since))

    def trace(self: _Asks, request_id: str) -> TracesReply:
        """`GET /debug/traces?request_id=`; one that is not known is a Refused of 404."""
        return self.ask(trace(request_id))


class AsyncConsoleCalls:
    """The questions, for a client that holds nobody up."""

    async def console_snapshot(
        self: _AsksLater, known: ConsoleSnapshot | None = None
    ) -> ConsoleSnapshot | Unchanged:
        """`GET /v1/console/snapshot`; `known` is the last document, whose rest is filled in."""
        path = snapshot_path(known)
        return _read(await self.raw(path), known, self.base_url + path)

    async def console_stream(self: _AsksLater) -> AsyncGenerator[ConsoleSnapshot, None]:
        """`GET /v1/console/stream`; ends when the Proxy does."""
        reader = _StreamReader(self.base_url + paths.CONSOLE_STREAM)
        async for piece in self.pieces(paths.CONSOLE_STREAM):
            for snapshot in reader.read(piece):
                yield snapshot

    async def instance(self: _AsksLater, instance_id: str) -> InstancePage:
        """`GET /v1/console/instance`."""
        return await self.ask(instance(instance_id))

    async def decisions(
        self: _AsksLater, *, last: int = 20, since: int | None = None
    ) -> DecisionsReply:
        """`GET /debug/decisions`."""
        return await self.ask(decisions(last=last, since=since))

    async def kdn_links(self: _AsksLater) -> KdnLinksReply:
        """`GET /v1/topology/kdn_links`."""
        return await self.ask(kdn_links())

    async def topology(self: _AsksLater) -> TopologyReply:
        """`GET /debug/topology`."""
        return await self.ask(topology())

    async def traces(self: _AsksLater, *, last: int = 50, since: int | None = None) -> TracesReply:
        """`GET /debug/traces`."""
        return await self.ask(traces(last=last, since=since))

    async def trace(self: _AsksLater, request_id: str) -> TracesReply:
        """`GET /debug/traces?request_id=`; one that is not known is a Refused of 404."""
        return await self.ask(trace(request_id))


class _StreamReader:
    """Makes documents of the pieces of a stream."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._scanner = SseScanner()
        self._known: ConsoleSnapshot | None = None

    def read(self, piece: bytes) -> list[ConsoleSnapshot]:
        """Return the documents that a piece completes; raises NotUnderstood."""
        found = [self._document(event) for event in self._scanner.scan(piece)]
        if self._scanner.event_bytes > _MAX_EVENT_BYTES:
            raise NotUnderstood(url=self._url, why=f"an event has over {_MAX_EVENT_BYTES} bytes")
        return [document for document in found if document is not None]

    def _document(self, event: Event) -> ConsoleSnapshot | None:
        if event.name not in (b"snapshot", b"change"):
            return None
        document = _read(event.data, self._known, self._url)
        if isinstance(document, documents.Unchanged):
            return None
        self._known = document
        return document


def _read(body: bytes, known: ConsoleSnapshot | None, url: str) -> ConsoleSnapshot | Unchanged:
    try:
        return reading.read_snapshot(body, known)
    except reading.NotASnapshot as problem:
        raise NotUnderstood(url=url, why=why_not(body, str(problem))) from problem
