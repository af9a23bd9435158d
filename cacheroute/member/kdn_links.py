"""How far away the knowledge nodes are: measured now and then, and told to the Proxy.

A node that does not answer is left out, so that its link goes. Each report replaces the last
one, and a Proxy that has just let this Instance in is told at once.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from cacheroute.formats.address import Address
from cacheroute.member.log import StateLog
from cacheroute.member.peer import Peer, PeerFault
from cacheroute.member.registration import Registration
from cacheroute.wire import paths

PINGS = 3
PROBE_TIMEOUT_S = 2.0
"""For each question to a node."""
MAX_BANDWIDTH_MBPS = 1e9
"""A node that tells of more is not believed."""
SYS_CLASS_NET = Path("/sys/class/net")

Links = dict[str, dict[str, object]]


class KdnLinks:
    """Probes knowledge nodes and reports what it finds, for one registered Instance."""

    def __init__(
        self,
        targets: Sequence[Address],
        proxy: Peer,
        registration: Registration,
        *,
        host: str,
        port: int,
        interval_s: float,
        default_bandwidth_mbps: float,
        sys_class_net: Path = SYS_CLASS_NET,
    ) -> None:
        self._targets = tuple(dict.fromkeys(targets))
        self._proxy = proxy
        self._registration = registration
        self._self = {"instance_host": host, "instance_port": port}
        self._interval_s = interval_s
        self._default_bandwidth_mbps = default_bandwidth_mbps
        self._sys = sys_class_net
        self._logs = {target: StateLog(f"kdn {target}") for target in self._targets}
        self._report_log = StateLog("topology")

    async def run(self) -> None:
        """Measure and report until cancelled."""
        async with AsyncExitStack() as held:
            nodes = {
                target: await held.enter_async_context(
                    Peer(f"http://{target.authority}", timeout_s=PROBE_TIMEOUT_S)
                )
                for target in self._targets
            }
            registration = self._registration
            while True:
                await registration.registered.wait()
                registration.again.clear()
                await self._report(await self.measure(nodes))
                try:
                    async with asyncio.timeout(self._interval_s):
                        await registration.again.wait()
                except TimeoutError:
                    pass

    async def measure(self, nodes: Mapping[Address, Peer]) -> Links:
        """Return a link under both its keys for each node that answers."""
        links: Links = {}
        for found in await asyncio.gather(*(self._probe(*node) for node in nodes.items())):
            links.update(found)
        return links

    async def _probe(self, target: Address, node: Peer) -> Links:
        loop = asyncio.get_running_loop()
        instance_id = self._registration.instance_id
        try:
            hello = await node.post(
                paths.TOPOLOGY_HELLO, {"instance_id": instance_id, **self._self}
            )
            rtts_s = []
            for _ in range(PINGS):
                began_s = loop.time()
                await node.get(paths.TOPOLOGY_PING)
                rtts_s.append(loop.time() - began_s)
        except PeerFault as fault:
            self._logs[target].say("lost", f"not reported: {fault}")
            return {}
        self._logs[target].say("found", "answers")
        interface = await asyncio.to_thread(interface_to, target)
        link: dict[str, object] = {
            "bandwidth_mbps": self._bandwidth_mbps(hello, interface),
            "latency_ms": round(sorted(rtts_s)[PINGS // 2] * 1000, 3),
            "iface": interface,
            "measured_by": instance_id,
        }
        kdn_id = hello.get("kdn_id")
        keys = [f"kdn://{target.authority}"]
        if isinstance(kdn_id, str) and kdn_id:
            keys.insert(0, kdn_id)
        return dict.fromkeys(keys, link)

    def _bandwidth_mbps(self, hello: Mapping[str, Any], interface: str | None) -> float:
        """What the node says of its link, else what the interface says, else the default."""
        told = hello.get("link_bandwidth_mbps")
        if isinstance(told, (int, float)) and 0 < told <= MAX_BANDWIDTH_MBPS:
            return float(told)
        if interface is not None:
            try:
                speed_mbps = int((self._sys / interface / "speed").read_text("ascii"))
            except (OSError, ValueError):
                speed_mbps = 0
            if speed_mbps > 0:
                return float(speed_mbps)
        return self._default_bandwidth_mbps

    async def _report(self, links: Links) -> None:
        instance_id = self._registration.instance_id
        try:
            told = await self._proxy.post(
                paths.TOPOLOGY_REPORT, {"instance_id": instance_id, "links": links}
            )
        except PeerFault as fault:
            self._report_log.say("failed", f"could not report: {fault}")
            return
        if told.get("ok") is True:
            self._report_log.say("reported", f"{self._proxy.base_url} knows the links")
        else:
            why = told.get("detail") or told.get("error") or "no reason given"
            self._report_log.say("refused", f"{self._proxy.base_url} refused the links: {why}")


def interface_to(target: Address) -> str | None:
    """Return the name of the network interface that leads to an address; None if unknown.

    Nothing is sent: the kernel says which address it would send from.
    """
    import psutil

    try:
        found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_DGRAM)
        family, kind, protocol, _, where = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.connect(where)
            own = probe.getsockname()[0]
        return next(
            (
                name
                for name, addresses in psutil.net_if_addrs().items()
                if any(each.address.partition("%")[0] == own for each in addresses)
            ),
            None,
        )
    except OSError:
        return None
