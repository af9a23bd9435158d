"""From settings to a running Proxy, by hand and in one place.

Reading this top to bottom shows every object there is and who is handed to whom.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from typing import TYPE_CHECKING

from cacheroute.core.health.ejection import Ejections
from cacheroute.core.ids import RequestIds
from cacheroute.core.model_cards import ModelCards
from cacheroute.core.pool import Pool
from cacheroute.core.routing.registry import find
from cacheroute.core.topology import Topology
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.dataplane.server import HttpServer
from cacheroute.dataplane.sockets import bind, listening_at
from cacheroute.formats.address import forbidden_reason
from cacheroute.planes.control_owner import ControlRules
from cacheroute.planes.models import ModelList
from cacheroute.planes.problems import render_refusal
from cacheroute.planes.service import Cors, ServicePlane, inference_routes
from cacheroute.runtime.clock import SystemClock
from cacheroute.runtime.control_server import ControlServer
from cacheroute.runtime.operating import Operator
from cacheroute.runtime.pipeline import Pipeline
from cacheroute.runtime.preparation import Preparation
from cacheroute.runtime.probing import Prober
from cacheroute.runtime.proxy import Proxy
from cacheroute.runtime.readings import MetricsReader
from cacheroute.runtime.registrar import Registrar
from cacheroute.runtime.request_log import RequestLog
from cacheroute.runtime.scheduling import Scheduling, described
from cacheroute.runtime.static import as_instance
from cacheroute.runtime.tasks import Tasks
from cacheroute.stores.audit import AuditFile
from cacheroute.stores.base import StoreError
from cacheroute.stores.memory import MemoryRegistry
from cacheroute.stores.sqlite import SqliteRegistry
from cacheroute.upstream.instance import WITHHELD_OF_ANSWER, Instances
from cacheroute.upstream.kdn import Kdns
from cacheroute.upstream.scheduler import Scheduler

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cacheroute.core.clock import Clock
    from cacheroute.settings.tree import Settings
    from cacheroute.stores.base import Store

log = logging.getLogger("cacheroute")

MAX_ATTEMPTS = 5
"""Most Instances that one request is tried on."""
_REAP_EVERY_S = 5.0
_LAST_WORDS_S = 0.2
"""For clients to take the error that ends their answer."""


def build(settings: Settings, clock: Clock | None = None) -> App:
    """Compose a Proxy; must be called on the event loop that will run it."""
    return App(settings, clock or SystemClock())


class App:
    """One Proxy process: both planes, the loops, and their orderly end."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.settings = settings
        self._clock = clock
        self._started = clock.now()
        row = find(settings.strategy.name)
        if row is None:
            raise AssertionError(settings.strategy.name)  # the settings have checked it
        self.proxy = Proxy(
            proxy_id=settings.proxy.id_at(),
            clock=clock,
            pool=Pool(settings.pool),
            strategy=row.build(settings.strategy.weights),
            ejections=Ejections(settings.pool.ejection),
            mono_s=time.monotonic,
            queues=settings.queues,
            coefficients=settings.predict.load(),
            header_tokens=settings.injection.header_tokens,
        )
        self._topology = Topology(settings.control.max_links, static=settings.kdn.static_links)
        self._upstream = UpstreamPool(
            limits=settings.limits,
            timeouts=settings.timeouts,
            object_to=forbidden_reason,
            withheld=WITHHELD_OF_ANSWER,
        )
        self._instances = Instances(
            self._upstream,
            time.monotonic,
            forward_authorization=settings.proxy.forward_authorization,
        )
        # Of its own, for its peers come and go with the requests that name them.
        self._knowledge = UpstreamPool(
            limits=settings.limits, timeouts=settings.timeouts, object_to=forbidden_reason
        )
        preparation = Preparation(
            proxy=self.proxy,
            topology=self._topology,
            kdns=Kdns(
                self._knowledge,
                lookup_timeout_s=settings.kdn.lookup_timeout_s,
                inject_timeout_s=settings.kdn.inject_timeout_s,
                reply_bytes=settings.kdn.reply_bytes,
            ),
            rules=settings.injection,
            allowed=settings.kdn.allow,
        )
        cards = ModelCards()
        self._prober = Prober(
            proxy=self.proxy,
            upstream=self._upstream,
            cards=cards,
            interval_s=settings.pool.health_check_interval_s,
            timeout_s=settings.pool.health_timeout_s,
            default_endpoint=settings.pool.health_endpoint,
        )
        self._request_log = RequestLog(
            max_bytes=settings.proxy.request_log_bytes,
            keep=settings.proxy.request_log_keep,
        )
        cors = Cors(settings.proxy.cors_origins)
        pipeline = Pipeline(
            proxy=self.proxy,
            instances=self._instances,
            request_log=self._request_log,
            ids=RequestIds(os.urandom),
            cors=cors,
            wall_s=time.time,
            max_attempts=MAX_ATTEMPTS,
            preparation=preparation,
        )
        models = ModelList(self._alive_models, cards)
        plane = ServicePlane(
            routes=inference_routes(settings.proxy.passthrough_paths),
            serve=pipeline.start,
            list_models=models.listing,
            show_model=models.card,
            is_ready=self.is_ready,
            cors=cors,
        )
        self._service = HttpServer(
            plane.on_request,
            limits=settings.limits,
            timeouts=settings.timeouts,
            render_refusal=render_refusal,
        )
        self._tasks = Tasks()
        self.readings = MetricsReader(
            self.proxy,
            self._service,
            self._request_log,
            lambda: None if self._scheduling is None else self._scheduling.state,
        )
        self._cards = cards
        self._control: ControlServer | None = None
        self._store: Store | None = None
        self._scheduling: Scheduling | None = None
        self.registrar: Registrar | None = None

    @property
    def service_port(self) -> int:
        """The port of the service plane, once started."""
        return self._service.port

    @property
    def control_port(self) -> int:
        """The port of the control plane, once started."""
        if self._control is None:
            raise RuntimeError("the control plane is not started")
        return self._control.port

    def is_ready(self) -> bool:
        """Whether new work can be taken and somebody is there to do it."""
        if self.proxy.leaving or self.proxy.draining:
            return False
        return any(True for _ in self.proxy.pool.willing(self._clock.now()))

    async def start(
        self,
        service_listeners: list[socket.socket] | None = None,
        control_listeners: list[socket.socket] | None = None,
    ) -> None:
        """Start serving, on bound sockets where some are handed in; raises OSError otherwise."""
        settings = self.settings
        service_listeners = service_listeners or bind(settings.proxy.host, settings.proxy.port)
        service_port = service_listeners[0].getsockname()[1]
        self.proxy.proxy_id = settings.proxy.id_at(service_port)
        self._request_log.path = settings.request_log_path(service_port)
        self._scheduling = self._as_scheduled(service_port)
        state_dir = settings.proxy_state_dir(service_port)
        self._store = self._open_store(state_dir)
        self.registrar = Registrar(
            proxy=self.proxy,
            topology=self._topology,
            store=self._store,
            prober=self._prober,
            instances=self._instances,
            weights=settings.strategy.weights,
            capacity=settings.proxy.max_capacity,
            started=self._started,
            scheduling=self._scheduling,
            injection_strategy=settings.injection.strategy,
        )
        operator = Operator(
            proxy=self.proxy,
            store=self._store,
            audit=AuditFile(state_dir / "audit.jsonl"),
            weights=settings.strategy.weights,
            unregister=self.registrar.unregister,
        )
        operator.restore()
        for static in settings.static_instances:
            self.registrar.add_static(as_instance(static, self._started.wall_s))
        self.registrar.restore()
        self._upstream.own_addresses = self._knowledge.own_addresses = listening_at(
            service_listeners
        )
        await self._service.start(listeners=service_listeners)
        self._tasks.start_lasting("prober", self._prober.run)
        self._tasks.start_lasting("reaper", self._reap)
        self._tasks.start_lasting("request-log", self._request_log.run)
        control_listeners = control_listeners or bind(settings.control.host, settings.control.port)
        control_port = control_listeners[0].getsockname()[1]
        self._control = ControlServer(
            self.registrar,
            self._control_rules(frozenset((self._service.port, control_port))),
            self.readings,
            operator,
        )
        own_addresses = self._upstream.own_addresses | listening_at(control_listeners)
        self._upstream.own_addresses = self._knowledge.own_addresses = own_addresses
        await self._control.start(control_listeners)
        # Last, for who hears of this Proxy may send it requests at once.
        if self._scheduling is not None:
            self._scheduling.start(self._tasks, self.registrar)

    async def stop(self, grace_s: float | None = None) -> None:
        """Take no new work, let running answers end for the grace time, then stop everything."""
        grace_s = self.settings.proxy.shutdown_grace_s if grace_s is None else grace_s
        self.proxy.leaving = True  # at once, however long the Scheduler takes
        if self._scheduling is not None:
            await self._scheduling.leave()  # before it forwards anything that is to be refused
        self.proxy.draining = True
        self._service.refuse_new()
        if not await self._service.idle(grace_s):
            await self.hurry()
        await self._service.stop()
        if self._control is not None:
            await self._control.stop()
        await self._tasks.stop()
        self._upstream.close()
        self._knowledge.close()
        if self._store is not None:
            if self.registrar is not None:
                self.registrar.keep_owed()
            self._store.close()

    async def hurry(self) -> None:
        """End running answers now: streams with an error event, the rest cut off."""
        self.proxy.turnstiles.close()
        self._knowledge.give_up()
        self._upstream.give_up()
        await self._service.stop(_LAST_WORDS_S)

    # Within

    def _control_rules(self, own_ports: frozenset[int]) -> ControlRules:
        proxy, control = self.settings.proxy, self.settings.control
        return ControlRules(
            token=None if control.token is None else control.token.get_secret_value(),
            body_bytes=control.body_bytes,
            snapshot_bytes=control.snapshot_bytes,
            max_links=control.max_links,
            body_timeout_s=control.body_timeout_s,
            connections=control.connections,
            own_hosts=frozenset((proxy.host, proxy.advertised_host, control.host)),
            own_ports=own_ports,
        )

    def _as_scheduled(self, service_port: int) -> Scheduling | None:
        told = self.settings.scheduler
        if told.url is None:
            return None
        return Scheduling(
            Scheduler(self._upstream, told.url, timeout_s=told.timeout_s),
            described=described(self.settings, service_port),
            clock=self._clock,
            heartbeat_s=told.heartbeat_s,
        )

    @staticmethod
    def _open_store(folder: Path) -> Store:
        try:
            opened = SqliteRegistry.open(folder / "registry.sqlite")
        except StoreError as error:
            # Serving matters more than remembering: Instances register again after a restart.
            log.warning("registry.not_kept reason=%s", error.message)
            return MemoryRegistry()
        if opened.warning is not None:
            log.warning("registry.renewed reason=%s", opened.warning)
        return opened.store

    def _alive_models(self) -> Sequence[tuple[str, frozenset[str]]]:
        now = self._clock.now()
        return [
            (member.instance.instance_id, member.instance.models or frozenset())
            for member in self.proxy.pool.alive(now)
        ]

    async def _reap(self) -> None:
        while True:
            await asyncio.sleep(_REAP_EVERY_S)
            if self.registrar is not None:
                self.registrar.reap()
