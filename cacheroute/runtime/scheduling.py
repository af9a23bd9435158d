"""Keeps this Proxy on its Scheduler's list, whoever of the two starts, restarts or goes first.

Registering replaces the record there and zeroes what the Scheduler counts, so it happens at
the start and when a heartbeat is answered with a 404, and never to be on the safe side. A
Scheduler that is not there harms nothing here: requests may come from elsewhere.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cacheroute.core.scheduler_state import SchedulerState, SchedulerWord
from cacheroute.planes.models import told_models
from cacheroute.planes.summary import pool_summary
from cacheroute.planes.topology import told_links
from cacheroute.upstream.scheduler import (
    ForgottenByScheduler,
    SchedulerRefused,
    SchedulerUnreachable,
)
from cacheroute.wire.scheduler import (
    ProxyHeartbeatBody,
    ProxyRegisterBody,
    ProxyUnregisterBody,
)

if TYPE_CHECKING:
    from cacheroute.core.clock import Clock
    from cacheroute.planes.control_owner import ControlOwner
    from cacheroute.runtime.tasks import Tasks
    from cacheroute.settings.tree import Settings
    from cacheroute.upstream.scheduler import Scheduler

log = logging.getLogger("cacheroute.scheduler")

FIRST_RETRY_S = 0.5
LAST_RETRY_S = 10.0
"""Well within the 30 s after which a published Scheduler takes a silent Proxy for dead."""
LEAVE_WITHIN_S = 1.0
"""Longest time that a Scheduler may hold up the end of this Proxy."""
MIN_INTERVAL_S = 0.5
"""Shortest interval that a Scheduler may ask for."""

VERSION = "proxy_v1"
"""What a published Proxy says it speaks."""

Pause = Callable[[float], Awaitable[None]]


class Scheduling:
    """Registers, sends heartbeats and leaves; `state` says how that goes."""

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        described: ProxyRegisterBody,
        clock: Clock,
        heartbeat_s: float,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._scheduler = scheduler
        self._described = described
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._pause = pause
        self._task: asyncio.Task[object] | None = None
        self._may_be_listed = False
        self._told_links = False
        """Whether the Scheduler has links of ours that it must hear of when they are gone."""
        self._told_models: list[str] = []
        """The models that it knows of."""
        self.state = SchedulerState(
            since=clock.now(),
            url=scheduler.url,
            state="registering",
        )
        """How this Proxy stands with its Scheduler."""

    def start(self, tasks: Tasks, owner: ControlOwner) -> None:
        """Begin; what is told of the pool and its links is asked of the owner each time."""
        self._task = tasks.start_lasting("scheduler", lambda: self._run(owner))

    async def leave(self) -> None:
        """Send no more heartbeats and take this Proxy off the list, within a second."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        # A heartbeat on its way would find an unknown id, and register it again.
        await asyncio.wait([task])
        error: str | None = None
        if self._may_be_listed:
            body = ProxyUnregisterBody(proxy_id=self._own_id())
            try:
                async with asyncio.timeout(LEAVE_WITHIN_S):
                    await self._scheduler.unregister(body)
            except (SchedulerUnreachable, SchedulerRefused) as problem:
                error = str(problem)
            except TimeoutError:
                error = f"the Scheduler took more than {LEAVE_WITHIN_S:g} s to say goodbye."
        self._become("off", error=error)
        log.info("scheduler.left url=%s problem=%s", self._scheduler.url, error or "none")

    # Within

    async def _run(self, owner: ControlOwner) -> None:
        while True:
            while not await self._register(owner):
                await self._pause(self._patience_s())
            pause_s = self._interval_s()
            while True:
                await self._pause(pause_s)
                try:
                    await self._beat(owner)
                except ForgottenByScheduler as problem:
                    self._become("registering", error=str(problem))
                    log.warning("scheduler.forgot_us url=%s", self._scheduler.url)
                    break
                except SchedulerUnreachable as problem:
                    self._failed("unreachable", problem)
                except SchedulerRefused as problem:
                    self._failed("refused", problem)
                pause_s = self._patience_s() if self.state.failures else self._interval_s()

    async def _register(self, owner: ControlOwner) -> bool:
        links, models = self._links(owner), self._models(owner)
        meta = dict(self._described.meta)
        meta |= ({"kdn_links": links} if links else {}) | ({"models": models} if models else {})
        body = self._described.model_copy(
            update={"meta": meta, "pool_resource": pool_summary(owner)}
        )
        self._may_be_listed = True  # from here on: an answer that is lost says nothing
        try:
            reply = await self._scheduler.register(body)
        except SchedulerUnreachable as problem:
            self._failed("unreachable", problem)
            return False
        except SchedulerRefused as problem:
            self._may_be_listed = False
            self._failed("refused", problem)
            return False
        self._told_links, self._told_models = bool(links), models
        self.state = replace(
            self.state,
            registrations=self.state.registrations + 1,
            proxy_id=reply.proxy_id,
            interval_s=max(MIN_INTERVAL_S, reply.heartbeat_interval_s),
        )
        self._worked()
        return True

    async def _beat(self, owner: ControlOwner) -> None:
        links, models = self._links(owner), self._models(owner)
        patch: dict[str, object] = {"kdn_links": links} if links or self._told_links else {}
        patch |= {"models": models} if models != self._told_models else {}
        await self._scheduler.heartbeat(
            ProxyHeartbeatBody(
                proxy_id=self._own_id(),
                meta_patch=patch or None,
                pool_resource=pool_summary(owner),
            )
        )
        self._told_links, self._told_models = bool(links), models
        self.state = replace(self.state, heartbeats=self.state.heartbeats + 1)
        self._worked()

    @staticmethod
    def _links(owner: ControlOwner) -> dict[str, object]:
        return told_links(owner.topology, owner.pool.snapshot(owner.clock.now()))

    @staticmethod
    def _models(owner: ControlOwner) -> list[str]:
        return told_models(owner.pool.alive(owner.clock.now()))

    def _own_id(self) -> str:
        proxy_id = self.state.proxy_id or self._described.proxy_id
        if proxy_id is None:
            raise AssertionError("a Proxy that registers has a name")
        return proxy_id

    def _interval_s(self) -> float:
        return self.state.interval_s or self._heartbeat_s

    def _patience_s(self) -> float:
        return min(LAST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(self.state.failures - 1, 30))

    def _worked(self) -> None:
        changed = self.state.state != "registered"
        self._become("registered")
        self.state = replace(self.state, failures=0, heard=self._clock.now())
        if changed:
            log.info(
                "scheduler.registered url=%s proxy_id=%s interval_s=%g",
                self.state.url,
                self.state.proxy_id,
                self._interval_s(),
            )

    def _failed(self, word: SchedulerWord, problem: Exception) -> None:
        changed = self.state.state != word
        self._become(word, error=str(problem))
        self.state = replace(self.state, failures=self.state.failures + 1)
        if changed:
            log.warning("scheduler.%s url=%s reason=%s", word, self.state.url, problem)

    def _become(self, word: SchedulerWord, *, error: str | None = None) -> None:
        if word != self.state.state:
            self.state = replace(self.state, state=word, since=self._clock.now())
        if error is not None:
            self.state = replace(self.state, last_error=error)


def described(settings: Settings, bound_port: int) -> ProxyRegisterBody:
    """Return what a Scheduler is told of this Proxy, but for what changes."""
    address = settings.proxy.advertised(bound_port)
    told = settings.scheduler
    return ProxyRegisterBody(
        proxy_id=settings.proxy.id_at(bound_port),
        # Others put a colon and the port behind it, so an IPv6 address needs its brackets.
        host=address.authority.removesuffix(f":{address.port}"),
        port=address.port,
        meta={"version": VERSION},
        max_capacity=settings.proxy.max_capacity,
        instance_count=told.instance_count,
        kv_mem_per_instance_gb=told.kv_mem_per_instance_gb,
        kv_cache_update_policy=told.kv_cache_update_policy,
    )
