"""Serves the newest snapshot; sampling goes by the timer, never by request.

However often it is asked, the agent reads the machine once per interval.
"""

import asyncio
import contextlib
import json
from collections.abc import Callable

from cacheroute.agent.collect import Collector
from cacheroute.agent.options import Options
from cacheroute.agent.snapshot import snapshot
from cacheroute.agent.watch import GpuWatch
from cacheroute.core.clock import Clock
from cacheroute.core.limits import Limits
from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from cacheroute.formats.address import Address
from cacheroute.member.listeners import listeners_at

FIRST_INTERVAL_S = 0.2
"""The first rates should not need a whole interval."""
LIMITS = Limits(head_bytes=16 * 1024, headers=64, body_bytes=64 * 1024, connections=256)
_JSON = ((b"Content-Type", b"application/json"),)
_STOP_GRACE_S = 1.0


class Agent:
    """Samples, and answers with the newest sample."""

    def __init__(self, options: Options, clock: Clock, watch: GpuWatch) -> None:
        self._options = options
        self._clock = clock
        self._watch = watch
        self._collector = Collector()
        self._bodies = {"/healthz": b'{"ok":true}'}

    def sample(self) -> None:
        """Read the machine; from here on the new snapshot is served."""
        options = self._options
        interval_s, window_s = options.sample_interval_ms / 1000, options.gpu_util_window_ms / 1000
        document = snapshot(
            self._collector.collect(self._clock.now(), self._watch.latest),
            instance_id=options.instance_id,
            gpu_util_window_ms=options.gpu_util_window_ms,
            gpu_stale_after_s=max(window_s, 3 * interval_s),
        )
        body = json.dumps(document, separators=(",", ":"), allow_nan=False)
        self._bodies["/v1/resource/snapshot"] = body.encode()

    def on_request(self, inbound: Inbound) -> None:
        """Answer one request from what is already known."""
        body = self._bodies.get(inbound.path)
        if body is None:
            inbound.respond(404, _JSON, b'{"error":"not_found"}')
        elif inbound.method not in ("GET", "HEAD"):
            allow = (*_JSON, (b"Allow", b"GET, HEAD"))
            inbound.respond(405, allow, b'{"error":"method_not_allowed"}')
        else:
            inbound.respond(200, _JSON, body)


async def serve(
    options: Options,
    *,
    clock: Clock,
    stopping: asyncio.Event,
    on_listening: Callable[[str], None],
) -> None:
    """Listen and sample until `stopping` is set; raises CannotListen.

    `on_listening` is told the URL once requests are answered.
    """
    interval_s = options.sample_interval_ms / 1000
    watch = GpuWatch(
        clock,
        interval_s=interval_s,
        window_s=options.gpu_util_window_ms / 1000,
        max_samples=options.gpu_util_max_samples,
    )
    agent = Agent(options, clock, watch)
    agent.sample()
    [listeners] = listeners_at(Address(options.host, options.port))
    server = HttpServer(agent.on_request, limits=LIMITS)
    await server.start(listeners=listeners)
    pause_s = min(FIRST_INTERVAL_S, interval_s)
    try:
        watch.start()
        on_listening(f"http://{Address(options.host, server.port).authority}")
        while not stopping.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause_s):
                    await stopping.wait()
            agent.sample()
            pause_s = interval_s
    finally:
        watch.stop()
        await server.stop(_STOP_GRACE_S)
