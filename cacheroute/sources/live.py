"""A Proxy, looked at over the network.

What it has of ours is found out by asking once; for the rest its published pages are read, and
a panel that needs more says why it stays empty. After a loss of connection it is asked anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from time import time
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from cacheroute.client.control import AsyncControlClient
from cacheroute.client.faults import (
    ControlFault,
    NotUnderstood,
    ReadOnly,
    Refused,
    TimedOut,
    Unreachable,
)
from cacheroute.console.look import Look
from cacheroute.console.rows.decisions import DecisionRow, decision_rows
from cacheroute.console.rows.topology import LinkRow, best_link_rows, link_rows
from cacheroute.console.rows.traces import TraceRow, trace_rows
from cacheroute.console.source import Capabilities, NotTold, Panel, SourceFault
from cacheroute.wire import paths
from cacheroute.wire.console import ConsoleSnapshot, Unchanged

if TYPE_CHECKING:
    from cacheroute.wire.instances import InstanceRow

T = TypeVar("T")

_MODELS = (
    "cacheroute.client.asks", "cacheroute.wire.instance_page", "cacheroute.sources.published",
)  # fmt: skip
_NO_SUCH_PAGE = frozenset({404, 405, 501})
_NOT_ALLOWED = frozenset({401, 403})
_NO_TOKEN = 401
_WHERE_ONE_IS_GIVEN = "CACHEROUTE_TOKEN or the token_file of a context may hold one"
_OF_LOOKS: tuple[Panel, ...] = ("snapshot", "queues", "pool", "scheduler")
"""What the columns tell of, all together."""
PAGES: tuple[str, ...] = (
    paths.DEBUG_STATUS,
    f"{paths.INSTANCE_LIST}?include_dead=true",
    paths.DEBUG_INSTANCE_LOADS,
    paths.DEBUG_INSTANCE_RESOURCES,
    paths.DEBUG_POOL_RESOURCE,
    paths.DEBUG_POOL_RESOURCE_SOURCES,
    f"{paths.DEBUG_DECISIONS}?last=50",
    f"{paths.DEBUG_TRACES}?last=50",
    paths.DEBUG_TOPOLOGY,
    paths.TOPOLOGY_KDN_LINKS,
    paths.DEBUG_SCHEDULER,
    paths.DEBUG_PREDICTIONS,
    paths.CONSOLE_SNAPSHOT,
    paths.METRICS,
    paths.READY,
)
"""What can be read of a control plane."""


class Wall(Protocol):
    """Whoever has the time of day, in seconds since the epoch."""

    def __call__(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlace:
    """Where the token comes from."""

    name: str
    """As people know it: `CACHEROUTE_TOKEN`, or a file."""
    read: Callable[[], str | None] | None = None
    """Reads it anew, in a thread, as far as it can be read; None where it cannot have changed."""


class LiveSource:
    """One Proxy."""

    def __init__(
        self,
        client: AsyncControlClient,
        *,
        wall_s: Wall = time,
        token_place: TokenPlace | None = None,
    ) -> None:
        self._client = client
        self._wall_s = wall_s
        self._token_place = token_place
        self._known: ConsoleSnapshot | None = None
        self._has_columns: bool | None = None
        self._missing: dict[Panel, str] = {}
        self._looks = 0
        self._has_models = False

    @property
    def kind(self) -> Literal["live"]:
        """A Proxy."""
        return "live"

    @property
    def name(self) -> str:
        """Its URL."""
        return self._client.base_url

    @property
    def capabilities(self) -> Capabilities:
        """What it can tell."""
        return Capabilities(missing=dict(self._missing))

    async def look(self) -> Look:
        """Return the pool as it is now."""
        try:
            return await self._looked()
        except SourceFault as fault:
            # Whoever answers next may be of another version; nothing at all may be a gateway's no.
            self._has_columns = None
            if fault.code != "unauthorised" or not await self._has_another_token():
                raise
        return await self._looked()

    async def _looked(self) -> Look:
        if self._has_columns is not False:
            try:
                look = await self._columns()
            except Refused as fault:
                if fault.status not in _NO_SUCH_PAGE:
                    raise self._ours(fault) from fault
                self._lacks("snapshot", paths.CONSOLE_SNAPSHOT)
                self._has_columns = False
            except ControlFault as fault:
                raise self._ours(fault) from fault
            else:
                self._has_columns = True
                for panel in _OF_LOOKS:
                    self._missing.pop(panel, None)
                return look
        return await self._published()

    async def decisions(self, *, last: int = 100) -> Sequence[DecisionRow]:
        """Return the newest decisions, newest first."""
        reply = await self._panel(
            "decisions", paths.DEBUG_DECISIONS, self._client.decisions(last=last)
        )
        return decision_rows(reply)

    async def traces(self, *, last: int = 100) -> Sequence[TraceRow]:
        """Return the newest requests, newest first."""
        return trace_rows(
            await self._panel("traces", paths.DEBUG_TRACES, self._client.traces(last=last))
        )

    async def trace(self, request_id: str) -> TraceRow | None:
        """Return one request; None when it is not known, or no longer."""
        try:
            reply = await self._client.trace(request_id)
        except Refused as fault:
            if fault.code == "unknown_request":
                return None
            if fault.status in _NO_SUCH_PAGE:
                raise self._not_told("traces", paths.DEBUG_TRACES) from fault
            raise self._ours(fault) from fault
        except ControlFault as fault:
            raise self._ours(fault) from fault
        return next(iter(trace_rows(reply)), None)

    async def topology(self) -> Sequence[LinkRow]:
        """Return the links to knowledge nodes: all of them, or else the best."""
        try:
            return link_rows(
                await self._panel("topology", paths.DEBUG_TOPOLOGY, self._client.topology())
            )
        except NotTold:
            links = await self._asked(self._client.kdn_links())
            return best_link_rows(links)

    async def instance(self, instance_id: str) -> InstanceRow | None:
        """Return all that is known of one Instance; None if it is gone."""
        await self._models()
        if self._has_columns is not False:
            try:
                return (await self._client.instance(instance_id)).instance
            except Refused as fault:
                if fault.code == "unknown_instance":
                    return None
                if fault.status not in _NO_SUCH_PAGE:
                    raise self._ours(fault) from fault
            except ControlFault as fault:
                raise self._ours(fault) from fault
        entries = await self._asked(self._client.instances(include_dead=True))
        return next((entry for entry in entries if entry.instance_id == instance_id), None)

    async def raw(self, path: str) -> bytes:
        """Return any page as it is."""
        return await self._asked(self._client.raw(path))

    def pages(self) -> Sequence[str]:
        """Return the paths that are worth a look."""
        return PAGES

    async def close(self) -> None:
        """Drop the connections."""
        await self._client.close()

    # Within

    async def _models(self) -> None:
        """Load what reads the published pages beside the loop, which it would hold up for long."""
        if not self._has_models:
            await asyncio.to_thread(lambda: [import_module(name) for name in _MODELS])
            self._has_models = True

    async def _columns(self) -> Look:
        try:
            told = await self._client.console_snapshot(self._known)
        except NotUnderstood:
            # Another Proxy, or the same one started anew, counts from elsewhere.
            if self._known is None:
                raise
            self._known = None
            told = await self._client.console_snapshot()
        if isinstance(told, Unchanged):
            known = self._known
            if known is None:
                raise NotUnderstood(
                    url=self.name + paths.CONSOLE_SNAPSHOT,
                    why="nothing is said to be new to who knows nothing",
                )
            return Look(snapshot=known, url=self.name).later(_passed_s(known, told))
        self._known = told
        return Look(snapshot=told, url=self.name)

    async def _published(self) -> Look:
        await self._models()
        from cacheroute.sources.published import snapshot_of

        client = self._client
        status = await self._asked(client.status())
        entries = await self._asked(client.instances(include_dead=True))
        loads = await self._optional("queues", paths.DEBUG_INSTANCE_LOADS, client.loads())
        pool = await self._optional("pool", paths.DEBUG_POOL_RESOURCE, client.pool())
        scheduler = await self._optional("scheduler", paths.DEBUG_SCHEDULER, client.scheduler())
        self._looks += 1
        snapshot = snapshot_of(
            rev=self._looks,
            status=status,
            entries=entries,
            loads=loads,
            pool=pool,
            scheduler=scheduler,
            now_s=self._wall_s(),
        )
        return Look(snapshot=snapshot, url=self.name)

    async def _asked(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except ControlFault as fault:
            raise self._ours(fault) from fault

    async def _panel(self, panel: Panel, page: str, answer: Awaitable[T]) -> T:
        try:
            found = await answer
        except Refused as fault:
            if fault.status in _NO_SUCH_PAGE:
                raise self._not_told(panel, page) from fault
            raise self._ours(fault) from fault
        except ControlFault as fault:
            raise self._ours(fault) from fault
        self._missing.pop(panel, None)
        return found

    async def _optional(self, panel: Panel, page: str, answer: Awaitable[T]) -> T | None:
        try:
            return await self._panel(panel, page, answer)
        except NotTold:
            return None
        except SourceFault as fault:
            # One page that fails costs its panel; a Proxy that is gone costs the look.
            if fault.code in ("unreachable", "timeout"):
                raise
            self._missing[panel] = fault.message
            return None

    def _not_told(self, panel: Panel, page: str) -> NotTold:
        return NotTold(panel, self._lacks(panel, page))

    def _lacks(self, panel: Panel, page: str) -> str:
        reason = f"this Proxy has no {page.partition('?')[0]}"
        self._missing[panel] = reason
        return reason

    def _ours(self, fault: ControlFault) -> SourceFault:
        if isinstance(fault, Unreachable | TimedOut):
            # Whoever answers next may be of another version.
            self._has_columns, self._known = None, None
        return SourceFault(self._words_of(fault), code=_code_of(fault), url=fault.url)

    def _words_of(self, fault: ControlFault) -> str:
        """Say what went wrong, and what there is to do where waiting does not help."""
        match fault:
            case Refused(status=status) if status in _NOT_ALLOWED:
                if not self._client.has_token:
                    return f"{fault.message}; no token is given, {_WHERE_ONE_IS_GIVEN}"
                place = "" if self._token_place is None else f" of {self._token_place.name}"
                # The usual words of a 401 say less than who is meant.
                said = f"{fault.url} answered 401" if status == _NO_TOKEN else fault.message
                return f"{said}: the token{place} is refused"
            case Refused(status=status) if status in _NO_SUCH_PAGE or 300 <= status < 400:
                return f"{fault.message}; is it the control plane of a Proxy?"
            case NotUnderstood():
                return f"{fault.message}; is it the control plane of a Proxy?"
            case _:
                return fault.message

    async def _has_another_token(self) -> bool:
        """Read the token anew where it may have been changed; whether it was."""
        if self._token_place is None or self._token_place.read is None:
            return False
        token = await asyncio.to_thread(self._token_place.read)
        return token is not None and self._client.take_token(token)


def _passed_s(known: ConsoleSnapshot, told: Unchanged) -> float:
    before_s = known.proxy.uptime_s
    if before_s is None or told.uptime_s is None:
        return max(0.0, told.generated_at - known.generated_at)
    return max(0.0, told.uptime_s - before_s)


def _code_of(fault: ControlFault) -> str:
    match fault:
        case Unreachable():
            return "unreachable"
        case TimedOut():
            return "timeout"
        case NotUnderstood():
            return "not_understood"
        case Refused(status=status) if status in _NOT_ALLOWED:
            return "unauthorised"
        case ReadOnly():
            return "read_only"
        case _:
            return "refused"
