"""One server's place in the pool, kept for as long as the server answers.

The Proxy judges liveness by heartbeats. A server that falls silent gets none, so it decays
there as any Instance would; it is described and registered anew when it answers again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar
from urllib.parse import urlsplit

from cacheroute.attach.body import registration as body_of
from cacheroute.attach.faults import (
    AttachFault,
    KeyWanted,
    NotAnswering,
    NotUnderstood,
    Taken,
)
from cacheroute.attach.gauges import Gauges
from cacheroute.attach.options import AGENT_LISTEN, AttachOptions
from cacheroute.attach.server import Description, Server
from cacheroute.formats.address import is_loopback
from cacheroute.member.kdn_links import KdnLinks
from cacheroute.member.log import StateLog
from cacheroute.member.peer import Peer, PeerFault
from cacheroute.member.registration import Registration
from cacheroute.member.resource_agent import AgentProcess, SnapshotReporter

Answer = TypeVar("Answer")

MISSES = 2
"""Looks in a row that find no answer before heartbeats stop."""
RETRY_S = 1.0
"""Pause after a look that found no answer, unless the interval is shorter."""
REPORT_INTERVAL_S = 1.0
TOPOLOGY_INTERVAL_S = 10.0
AGENT_TIMEOUT_S = 2.0
FIRST_RETRY_S = 0.5
"""Pause between two questions to whoever has not answered yet."""
_FRESH_FOR = 3
"""Intervals after which a metrics page says nothing any more."""


async def attach(options: AttachOptions, *, on_attached: Callable[[str], None]) -> None:
    """Keep a server attached until cancelled, and take it out of the pool then.

    Raises AttachFault when it cannot be attached in the first place.
    """
    loop = asyncio.get_running_loop()
    patience = Patience(options.wait_s)
    origin = options.origin
    async with AsyncExitStack() as held:
        keyed = None
        if options.api_key is not None:
            keyed = await held.enter_async_context(Peer(origin.url, token=options.api_key))
        server = Server(await held.enter_async_context(Peer(origin.url)), keyed)
        proxy = await held.enter_async_context(
            Peer(options.proxy_cp_url, token=options.proxy_cp_token)
        )
        found = await patience.ask("server", lambda: server.describe(options.model))
        gauges = Gauges(stale_after_s=_FRESH_FOR * options.interval_s)
        gauges.note(loop.time(), found.stats)
        registration = Registration(
            proxy, body_of(options, found), load=lambda: gauges.load(loop.time())
        )
        held.push_async_callback(registration.unregister)
        await patience.ask("proxy", lambda: _register(registration, proxy))
        on_attached(f"attached {registration.instance_id} at {origin.url} to {proxy.base_url}")
        keeper = Keeper(options, server, registration, gauges, found)
        async with asyncio.TaskGroup() as group:
            group.create_task(keeper.run(group))
            if options.agent_url is not None:
                agents = await held.enter_async_context(
                    Peer(options.agent_url, timeout_s=AGENT_TIMEOUT_S)
                )
                agent = AgentProcess(
                    agents,
                    listen=AGENT_LISTEN if options.starts_agent else None,
                    instance_id=registration.instance_id,
                )
                held.push_async_callback(agent.end)
                reporter = SnapshotReporter(
                    agent,
                    proxy,
                    registration,
                    interval_s=REPORT_INTERVAL_S,
                    runtime=lambda: gauges.runtime(loop.time()),
                )
                group.create_task(reporter.run())
            if options.kdn_targets:
                links = KdnLinks(
                    options.kdn_targets,
                    proxy,
                    registration,
                    host=origin.host,
                    port=origin.port,
                    interval_s=TOPOLOGY_INTERVAL_S,
                    default_bandwidth_mbps=options.link_bandwidth_mbps,
                )
                group.create_task(links.run())


class Keeper:
    """Looks at the server again and again, and lets heartbeats go on or stop."""

    def __init__(
        self,
        options: AttachOptions,
        server: Server,
        registration: Registration,
        gauges: Gauges,
        found: Description,
    ) -> None:
        self._options = options
        self._server = server
        self._registration = registration
        self._gauges = gauges
        self._log = StateLog("server")
        self._beating: asyncio.Task[None] | None = None
        self._misses = 0
        self._identify(found)

    async def run(self, group: asyncio.TaskGroup) -> None:
        """Look until cancelled."""
        loop = asyncio.get_running_loop()
        self._beating = group.create_task(self._registration.run())
        while True:
            await asyncio.sleep(
                min(self._options.interval_s, RETRY_S) if self._misses else self._options.interval_s
            )
            pulse = await self._server.pulse()
            if pulse.problem is not None:
                self._missed(pulse.problem)
                continue
            self._gauges.note(loop.time(), pulse.stats)
            if self._misses and await self._is_back(group):
                self._misses = 0

    def _missed(self, problem: str) -> None:
        self._misses += 1
        if self._misses < MISSES or self._beating is None:
            return
        self._beating.cancel()
        self._beating = None
        self._registration.silence()
        self._gauges.forget()
        self._log.say("silent", f"{problem}; heartbeats stop until it answers")

    async def _is_back(self, group: asyncio.TaskGroup) -> bool:
        """It answers after a miss, perhaps as another one: describe it anew."""
        try:
            found = await self._server.describe(self._options.model)
        except AttachFault as fault:
            self._missed(str(fault))
            return False
        self._identify(found)
        body = body_of(self._options, found)
        if self._beating is not None and body != self._registration.body:
            self._beating.cancel()
            self._beating = None
            self._registration.silence()
        self._registration.body = body
        if self._beating is None:
            self._beating = group.create_task(self._registration.run())
            self._log.say("back", f"{self._server.url} answers again")
        return True

    def _identify(self, found: Description) -> None:
        self._gauges.kind, self._gauges.version = found.kind, found.version
        if found.wants_key:
            self._log.say("key", _about_the_key(self._server.url, self._options.api_key_env))
        elif is_loopback(self._options.origin.host) and not _is_here(self._options.proxy_cp_url):
            self._log.say(
                "loopback",
                f"note: the Proxy will look for {self._options.origin.authority} on its own host; "
                "if that is another one, give --endpoint an address that leads here",
            )


class Patience:
    """How long whoever does not answer yet is asked again."""

    def __init__(self, wait_s: float) -> None:
        self._until_s = asyncio.get_running_loop().time() + wait_s

    async def ask(self, about: str, question: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the first answer; raises NotAnswering when the time is up."""
        log = StateLog(about)
        while True:
            try:
                return await question()
            except NotAnswering as fault:
                if asyncio.get_running_loop().time() >= self._until_s:
                    raise
                log.say("waiting", f"{fault}; waiting")
            await asyncio.sleep(FIRST_RETRY_S)


async def _register(registration: Registration, proxy: Peer) -> None:
    try:
        await registration.register()
    except PeerFault as fault:
        raise _refusal(fault, proxy.base_url) from fault


def _refusal(fault: PeerFault, proxy_url: str) -> AttachFault:
    match fault.status:
        case None:
            return NotAnswering(
                f"{fault}", hint="is the Proxy running, and is this its control plane?"
            )
        case 401 | 403:
            return KeyWanted(
                f"{proxy_url} wants a token, or another one",
                hint="put the token of its control plane into CACHEROUTE_TOKEN",
            )
        case 409:
            return Taken(f"{fault}")
        case 404 | 405:
            return NotUnderstood(f"{fault}", hint="is this the control plane of a Proxy?")
        case status if status >= 500:
            return NotAnswering(f"{fault}")
        case _:
            return AttachFault(f"{fault}")


def _is_here(url: str) -> bool:
    host = urlsplit(url).hostname
    return host is not None and is_loopback(host)


def _about_the_key(url: str, variable: str | None) -> str:
    return (
        f"note: {url} wants a key, and a registered Instance has none at the Proxy: requests "
        "must bring it themselves. To have the Proxy send it, name the server there instead: "
        f"--instance {url},api_key=env:{variable or 'NAME'}"
    )
