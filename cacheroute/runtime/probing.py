"""Asks Instances what they serve and whether they answer at all.

A probe that fails counts like a failed request. One that succeeds proves only that the
server is there: an Instance at rest comes back by a real answer, not by a green page.
"""

import asyncio
import logging
import math

import msgspec

from cacheroute.core.errors import UpstreamError
from cacheroute.core.model_cards import ModelCards
from cacheroute.core.pool_member import Member
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.runtime.proxy import Proxy
from cacheroute.upstream.fetch import fetch
from cacheroute.wire import paths

log = logging.getLogger("cacheroute.probing")

_REPLY_MAX_BYTES = 4 * 1024 * 1024
_AT_ONCE = 32
_SOON_S = 1.0


class _Listing(msgspec.Struct):
    data: list[dict[str, object]]


class Prober:
    """Probes every Instance of the pool, each when it is due."""

    def __init__(
        self,
        *,
        proxy: Proxy,
        upstream: UpstreamPool,
        cards: ModelCards,
        interval_s: float,
        timeout_s: float,
        default_endpoint: str | None,
    ) -> None:
        self._proxy = proxy
        self._upstream = upstream
        self._cards = cards
        self._interval_s = interval_s
        self._timeout_s = timeout_s
        self._default_endpoint = default_endpoint
        self._due: dict[Member, float] = {}
        """When each is to be asked; infinite while it is being asked."""
        self._asking: set[Member] = set()
        self._failing: dict[Member, int] = {}
        self._wake = asyncio.Event()

    def ask_soon(self, member: Member) -> None:
        """An Instance is new, or has changed: ask it now."""
        self._due[member] = 0.0
        self._wake.set()

    def forget(self, member: Member) -> None:
        """An Instance has left the pool."""
        self._due.pop(member, None)
        self._failing.pop(member, None)
        self._cards.drop(member.instance.instance_id)

    async def run(self) -> None:
        """Probe until cancelled."""
        gate = asyncio.Semaphore(_AT_ONCE)
        # Whoever was being asked when this ended before has not answered.
        for member, at_mono_s in self._due.items():
            if at_mono_s == math.inf:
                self._due[member] = 0.0
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                now_mono_s = self._proxy.mono_s()
                for member, at_mono_s in self._due.items():
                    if at_mono_s <= now_mono_s and member not in self._asking:
                        self._asking.add(member)
                        self._due[member] = math.inf
                        group.create_task(self._guarded(member, gate))
                waiting = min(
                    (at for member, at in self._due.items() if member not in self._asking),
                    default=math.inf,
                )
                pause_s = max(0.05, min(waiting - self._proxy.mono_s(), self._interval_s))
                try:
                    async with asyncio.timeout(pause_s):
                        await self._wake.wait()
                except TimeoutError:
                    pass

    async def _guarded(self, member: Member, gate: asyncio.Semaphore) -> None:
        try:
            async with gate:
                problem = await self._probe(member)
        finally:
            self._asking.discard(member)
            self._wake.set()
        if member not in self._due:
            return  # it left in the meantime
        now_mono_s = self._proxy.mono_s()
        if self._due[member] == math.inf:  # otherwise it has changed, and is asked again
            pause_s = self._interval_s
            if problem is not None and member.models is None:
                # It may only be starting; but a thousand that never start must not keep us busy.
                patience = max(0, self._failing.get(member, 0) - 2)
                pause_s = min(_SOON_S * 2.0**patience, pause_s)
            self._due[member] = now_mono_s + pause_s
        instance_id = member.instance.instance_id
        if problem is None:
            self._proxy.pool.note_probe(member, self._proxy.clock.now())
            if self._failing.pop(member, 0):
                log.info("probe.answers instance_id=%s", instance_id)
        else:
            self._proxy.failed(member, problem)
            failures = self._failing[member] = min(self._failing.get(member, 0) + 1, 30)
            if failures == 1:
                log.warning("probe.failed instance_id=%s reason=%s", instance_id, problem)

    async def _probe(self, member: Member) -> str | None:
        """Ask one Instance; return what is wrong, or None."""
        endpoint = member.instance.health_endpoint or self._default_endpoint
        if endpoint is not None and endpoint != paths.MODELS:
            problem, _ = await self._get(member, endpoint)
            if problem is not None:
                return problem
        problem, body = await self._get(member, paths.MODELS)
        if problem is not None:
            return problem
        try:
            listing = msgspec.json.decode(body, type=_Listing)
        except (msgspec.DecodeError, RecursionError):
            return None  # it answers, and lists nothing that can be read: any model may be there
        if member in self._due:
            instance_id = member.instance.instance_id
            self._proxy.pool.set_models(instance_id, self._cards.put(instance_id, listing.data))
        return None

    async def _get(self, member: Member, path: str) -> tuple[str | None, bytes]:
        instance = member.instance
        if member not in self._due:
            return "it has left", b""  # and what is made for it now, nobody would clear away
        peer = self._upstream.peer(instance.host, instance.port)
        try:
            status, body = await fetch(
                peer,
                instance.base_path + path,
                host=instance.authority,
                api_key=instance.api_key,
                timeout_s=self._timeout_s,
                limit_bytes=_REPLY_MAX_BYTES,
            )
        except UpstreamError as error:
            return error.message, b""
        except TimeoutError:
            return f"{peer.name} did not answer {path} within {self._timeout_s:g} s.", b""
        if status >= 500:
            return f"{peer.name} answered {path} with {status}.", b""
        return None, body if status == 200 else b""
