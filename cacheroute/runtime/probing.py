"""Asks Instances what they serve and whether they answer at all.

A probe that fails counts like a failed request. One that succeeds proves only that the
server is there: an Instance at rest comes back by a real answer, not by a green page.
"""

import asyncio
import logging

import msgspec

from cacheroute.core.errors import UpstreamError
from cacheroute.core.health.probe_plan import ProbePlan
from cacheroute.core.model_cards import ModelCards
from cacheroute.core.pool_member import Member
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.formats.json_values import has_more_values
from cacheroute.runtime.proxy import Proxy
from cacheroute.upstream.fetch import fetch
from cacheroute.wire import paths

log = logging.getLogger("cacheroute.probing")

_REPLY_MAX_BYTES = 4 * 1024 * 1024
_VALUES_MAX = 50_000
"""Most values in a list that is read; a million would be built while every stream stands still."""


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
        self._plan: ProbePlan[Member] = ProbePlan(interval_s)
        self._wake = asyncio.Event()

    def ask_soon(self, member: Member) -> None:
        """An Instance is new, or has changed: ask it now."""
        self._plan.ask_soon(member)
        self._wake.set()

    def forget(self, member: Member) -> None:
        """An Instance has left the pool."""
        self._plan.forget(member)
        self._cards.drop(member.instance.instance_id)

    async def run(self) -> None:
        """Probe until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                for member in self._plan.begin(self._proxy.mono_s()):
                    group.create_task(self._ask(member))
                due_in_s = self._plan.due_in_s(self._proxy.mono_s())
                try:
                    async with asyncio.timeout(max(0.05, min(due_in_s, self._interval_s))):
                        await self._wake.wait()
                except TimeoutError:
                    pass

    async def _ask(self, member: Member) -> None:
        plan = self._plan
        try:
            problem = await self._probe(member)
        except BaseException:
            plan.given_up(member)
            raise
        is_here = member in plan
        was_known = member.models is not None
        if plan.keeps_waiting or not (problem is None or was_known):
            self._wake.set()  # or somebody is due before the others are
        instance_id = member.instance.instance_id
        if problem is None:
            failures = plan.answered(member, self._proxy.mono_s())
            if is_here:
                self._proxy.pool.note_probe(member, self._proxy.clock.now())
            if failures:
                log.info("probe.answers instance_id=%s", instance_id)
        else:
            failures = plan.failed(member, self._proxy.mono_s(), was_known=was_known)
            if is_here:
                self._proxy.failed(member, problem)
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
        if has_more_values(body, _VALUES_MAX):
            return None
        try:
            listing = msgspec.json.decode(body, type=_Listing)
        except (msgspec.DecodeError, RecursionError):
            return None  # it answers, and lists nothing that can be read: any model may be there
        if member in self._plan:
            instance_id = member.instance.instance_id
            self._proxy.pool.set_models(instance_id, self._cards.put(instance_id, listing.data))
        return None

    async def _get(self, member: Member, path: str) -> tuple[str | None, bytes]:
        instance = member.instance
        if member not in self._plan:
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
            return error.for_operator, b""
        except TimeoutError:
            return f"{peer.name} did not answer {path} within {self._timeout_s:g} s.", b""
        if status >= 500:
            return f"{peer.name} answered {path} with {status}.", b""
        return None, body if status == 200 else b""
