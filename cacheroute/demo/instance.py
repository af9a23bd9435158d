"""A model server without a model: vLLM's HTTP API on a modelled GPU, and an Instance of a pool.

`python -m cacheroute.demo.instance --proxy-cp-url http://127.0.0.1:8002` registers at a Proxy,
sends heartbeats and resource snapshots, and answers with made-up words at the pace of a real
GPU: prompts that share a prefix really get their first token sooner. It prints one line,
`listening on http://HOST:PORT`, and exits 0 when told to stop, 2 on a bad option, 5 when it
cannot listen.

With `--kv-redis` it looks for KV outside, as vLLM does with LMCache: blocks of a prompt that a
Redis holds are loaded instead of computed. With `--kdn-targets` as well it lets knowledge nodes
put KV there when a Proxy wants that, and reports how far away they are.

Faults can be ordered while it runs, or with `--fault` at the start:

    POST /demo/fault {"kind": KIND, ...}   arms one; GET shows what is armed, DELETE takes all back

    die_mid_stream   the connection is reset after `after_tokens` tokens (default 1); a plain
                     JSON answer is cut in half; with 0, before the first byte
    error            the answer is `status` (default 500), with `retry_after_s` if given
    error_event      after `after_tokens` tokens the stream ends with vLLM's error event, still
                     a 200; a plain JSON answer is a 500
    freeze           nothing more comes out, connections stay open
    refuse           the listening socket is closed for `for_s` seconds (default 5)
    slow             everything takes `factor` times as long (default 10)

The first three strike `count` requests (default 1), or all requests for `for_s` seconds; the
others last `for_s` seconds, or until they are taken back.
"""

import asyncio
import contextlib
import gc
import importlib
import os
import sys
import time
from collections.abc import Callable

from cacheroute.core.engine.engine import Engine
from cacheroute.demo import identity
from cacheroute.demo.fault_desk import FaultDesk
from cacheroute.demo.kv_control import KvControl
from cacheroute.demo.kv_loads import KvLoads
from cacheroute.demo.kv_store import KvStore
from cacheroute.demo.listening import Listening
from cacheroute.demo.metrics import VllmMetrics
from cacheroute.demo.options import InstanceOptions, parse_options
from cacheroute.demo.pace import Pacer
from cacheroute.demo.params import ServedModel
from cacheroute.demo.service import Service
from cacheroute.formats.address import Address
from cacheroute.member.running import announce, run_until_signal


def main() -> int:
    """Run one Instance until a signal; returns the exit code."""
    options = parse_options(sys.argv[1:], os.environ)
    return run_until_signal(
        lambda stopping: serve(
            options, stopping=stopping, on_listening=lambda url: announce(f"listening on {url}")
        )
    )


async def serve(
    options: InstanceOptions, *, stopping: asyncio.Event, on_listening: Callable[[str], None]
) -> None:
    """Serve until `stopping` is set; raises CannotListen."""
    instance = Instance(options)
    await instance.open()
    on_listening(f"http://{Address(options.host, instance.port).authority}")
    try:
        if options.proxy_cp_url is None:
            gc.freeze()
            await stopping.wait()
        else:
            await _belong(instance, options.proxy_cp_url, stopping)
    finally:
        await instance.close()


class Instance:
    """The parts of one Instance, put together on the running loop."""

    def __init__(self, options: InstanceOptions) -> None:
        began_at_s = time.time()
        model = ServedModel(
            name=options.model,
            max_model_tokens=options.max_model_tokens,
            created_at_s=int(began_at_s),
        )
        self.options = options
        self.engine = Engine(options.profile)
        self.pacer = Pacer(self.engine, options.speed)
        self.desk = FaultDesk(self.pacer)
        self.store: KvStore | None = None
        self.outside: KvLoads | None = None
        if options.kv is not None:
            self.store = KvStore(options.kv, model=model.name, profile=options.profile)
            self.outside = KvLoads(self.store, self.pacer)
        self.control = KvControl(options.kv, options.kdn_targets)
        self.metrics = VllmMetrics(
            self.engine,
            model=model.name,
            created_at_s=began_at_s,
            speed=lambda: self.pacer.speed,
            loading=lambda: 0 if self.outside is None else self.outside.loading,
        )
        self.service = Service(
            model=model,
            pacer=self.pacer,
            metrics=self.metrics,
            desk=self.desk,
            max_queued=options.max_queued,
            outside=self.outside,
            control=self.control.routes,
        )
        self._listening = Listening(
            self.service.on_request,
            host=options.host,
            port=options.port,
            cp_host=options.cp_host,
            cp_port=options.cp_port,
        )

    @property
    def port(self) -> int:
        """The port that is listened on."""
        return self._listening.port

    async def open(self) -> None:
        """Listen, with the faults that were ordered for the start; raises CannotListen."""
        if self.store is not None:
            await self.store.open()
        await self._listening.open()
        self.desk.refuse_for = self._listening.refuse_for
        for fault in self.options.faults:
            self.desk.arm(fault)

    async def close(self) -> None:
        """Let running answers end for a while, then stop."""
        self.desk.clear()
        await self._listening.close(self.options.grace_s)
        await self.control.close()
        if self.outside is not None:
            await self.outside.close()
        if self.store is not None:
            await self.store.close()
        self.pacer.stop()


async def _belong(instance: Instance, proxy_url: str, stopping: asyncio.Event) -> None:
    """Be part of a Proxy's pool until `stopping` is set, and leave it then."""
    # An HTTP client takes longer to load than all the rest: the port is open meanwhile.
    await asyncio.to_thread(importlib.import_module, "httpx")
    from cacheroute.member.peer import Peer
    from cacheroute.member.registration import Registration
    from cacheroute.member.resource_agent import AgentProcess, SnapshotReporter

    gc.freeze()
    options, service = instance.options, instance.service
    agent_url = options.agent_url or f"http://127.0.0.1:{options.agent_port}"
    token = options.proxy_cp_token
    async with contextlib.AsyncExitStack() as held:
        proxy = await held.enter_async_context(Peer(proxy_url, token=token))
        agents = await held.enter_async_context(Peer(agent_url, timeout_s=2.0))
        registration = Registration(
            proxy,
            identity.registration(options, instance.port),
            load=lambda: {"inflight": service.inflight, "qps_1m": service.qps_1m, "gpu_util": None},
            heartbeat_s=options.heartbeat_s,
        )
        agent = AgentProcess(
            agents,
            listen=f"127.0.0.1:{options.agent_port}" if options.starts_agent else None,
            instance_id=registration.instance_id,
        )
        held.push_async_callback(agent.end)
        held.push_async_callback(registration.unregister)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(registration.run())]
            if options.report_resources:
                reporter = SnapshotReporter(
                    agent, proxy, registration, interval_s=options.report_interval_s
                )
                tasks.append(group.create_task(reporter.run()))
            if options.kdn_targets:
                from cacheroute.member.kdn_links import KdnLinks

                links = KdnLinks(
                    options.kdn_targets,
                    proxy,
                    registration,
                    host=identity.advertised_host(options),
                    port=options.advertise_port or instance.port,
                    interval_s=options.topology_interval_s,
                    default_bandwidth_mbps=options.link_bandwidth_mbps,
                )
                tasks.append(group.create_task(links.run()))
            await stopping.wait()
            for task in tasks:
                task.cancel()


if __name__ == "__main__":
    sys.exit(main())
