"""Everything between a question and its knowledge, on free ports and below one Stack.

Redis, knowledge node and Scheduler stay for the whole demo; Proxy and Instance are new for
each way and each bandwidth, so that none profits from what an earlier one has learned.
There is one Instance: the node simulates one link, and so both mean the same link.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import ControlFault
from cacheroute.demo.knowledge.shelving import Shelf
from cacheroute.demo.knowledge.ways import Way
from cacheroute.formats.address import Address
from cacheroute_cli.demo_fleet import MODEL, OUR_VARIABLES, READY_TIMEOUT_S
from cacheroute_cli.knowledge_launch import (
    launch_builder,
    launch_node,
    launch_reader,
    launch_redis,
    launch_scheduler,
)
from cacheroute_cli.launch import Launch, ProxyOptions, launch_proxy
from cacheroute_cli.supervisor.faults import ChildFailed
from cacheroute_cli.supervisor.ports import free_port
from cacheroute_cli.supervisor.ready import wait_for_line, wait_until
from cacheroute_cli.supervisor.runner import Child, Program
from cacheroute_cli.supervisor.stack import Stack

MARGIN_MS = 100.0
"""What KV must be predicted to win by, on a real GPU: the Proxy's own default."""
HEADER_TOKENS = 8
"""What the demo Instance's chat template and the Proxy's own words add to a prompt."""
LINK_DELAY_MS = 1.0
"""One way, before the speed-up."""
_INSTANCE = "demo-1"
_PORT_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WayFleet:
    """A Proxy with its Instance."""

    control_url: str
    children: tuple[Child, ...]


class KnowledgeFleets:
    """Brings up what stays, and one fleet after the other; the Stack ends all of it."""

    def __init__(self, stack: Stack, folder: Path, *, redis_program: str, speed: float) -> None:
        self._stack = stack
        self._folder = folder
        self._speed = speed
        self._fleets = 0
        self.redis = Address("127.0.0.1", self._start_redis(redis_program))
        node = self._start(
            launch_node(
                database=folder / "knowledge.sqlite3",
                bandwidth_mbps=self.real_mbps(1.0),
                delay_ms=LINK_DELAY_MS / speed,
            )
        )
        self.node_url = self._says(*node)["url"]
        self._node = self.node_url.removeprefix("http://")
        self.shelf = Shelf(node_url=self.node_url, redis=self.redis)
        self.scheduler_url = ""
        self.scheduler_control_url = ""

    def real_mbps(self, gbps: float) -> float:
        """Return the bandwidth of the simulated link: it is sped up as everything else is."""
        return gbps * 1000 * self._speed

    @contextmanager
    def builder(self) -> Iterator[str]:
        """Have an Instance that builds KV; gives its URL."""
        launch, child = self._start(launch_builder(model=MODEL, redis_url=self._redis_url))
        try:
            yield self._says(launch, child)["url"]
        finally:
            self._stack.end([child])

    def open_scheduler(self) -> None:
        """Start the Scheduler, once the knowledge node has its texts."""
        says = self._says(*self._start(launch_scheduler(node=self._node)))
        self.scheduler_url, self.scheduler_control_url = says["service"], says["control"]

    def up(
        self,
        way: Way,
        *,
        gbps: float,
        coefficients: Path | None = None,
        request_log: Path | None = None,
    ) -> WayFleet:
        """Start a Proxy and an Instance that know each other, the link and the Scheduler."""
        self._fleets += 1
        name = f"{self._fleets}-{way.name}"
        proxy_launch, proxy = self._start(
            self._proxy(way, name, coefficients, request_log), name=f"proxy-{name}"
        )
        control_url = self._says(proxy_launch, proxy)["control"]
        _, instance = self._start(
            launch_reader(
                instance_id=_INSTANCE,
                proxy_url=control_url,
                model=MODEL,
                speed=self._speed,
                redis_url=self._redis_url,
                node=self._node,
            ),
            name=f"instance-{name}",
        )
        fleet = WayFleet(control_url=control_url, children=(instance, proxy))
        self._wait_until_all_know(fleet, self.real_mbps(gbps))
        return fleet

    def down(self, fleet: WayFleet) -> None:
        """End an Instance and then its Proxy, which takes its leave of the Scheduler."""
        for child in fleet.children:
            self._stack.end([child])

    @property
    def _redis_url(self) -> str:
        return f"redis://{self.redis.authority}/0"

    def _proxy(
        self, way: Way, name: str, coefficients: Path | None, request_log: Path | None
    ) -> Launch:
        settings = [
            f"state_dir={self._folder / f'state-{name}'}",
            f"injection.margin_ms={MARGIN_MS / self._speed}",
            f"injection.header_tokens={HEADER_TOKENS}",
        ]
        if coefficients is not None:
            settings.append(f"predict.coefficients={coefficients}")
        if request_log is not None:
            settings.append(f"proxy.request_log={request_log}")
        options = ProxyOptions(
            port=0,
            cp_port=0,
            injection_strategy=way.strategy,
            ready_release_policy="text_bypass",
            scheduler_url=self.scheduler_control_url,
            proxy_id=f"demo-{name}",
            settings=tuple(settings),
        )
        return launch_proxy(options, {})

    def _start_redis(self, program: str) -> int:
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            port = free_port()
            launch, child = self._start(launch_redis(program, port=port, folder=self._folder))
            try:
                self._says(launch, child)
            except ChildFailed:
                # Somebody may have been faster to take the port.
                if attempt == _PORT_ATTEMPTS:
                    raise
                self._stack.end([child])
            else:
                break
        return port

    def _start(self, launch: Launch, *, name: str | None = None) -> tuple[Launch, Child]:
        name = name or launch.kind
        [child] = self._stack.start(
            Program(
                name=name,
                argv=launch.argv,
                log=self._folder / f"{name}.log",
                without=OUR_VARIABLES,
            )
        )
        return launch, child

    def _says(self, launch: Launch, child: Child) -> dict[str, str]:
        return wait_for_line(child, launch.says_ready, timeout_s=READY_TIMEOUT_S).groupdict()

    def _wait_until_all_know(self, fleet: WayFleet, bandwidth_mbps: float) -> None:
        with ControlClient(fleet.control_url) as client:

            def all_known() -> bool | None:
                try:
                    links = client.topology().kdn_links.values()
                    scheduler = client.scheduler()
                    alive = client.instances()
                except ControlFault:
                    return None
                has_link = any(link.get("bandwidth_mbps") == bandwidth_mbps for link in links)
                ready = has_link and scheduler.state == "registered" and len(alive) == 1
                return True if ready else None

            wait_until(
                all_known,
                what="Proxy, Instance, knowledge node and Scheduler did not get to know each other",
                children=fleet.children,
                timeout_s=READY_TIMEOUT_S,
            )
