"""A control plane over a pool, a topology and a clock that tests set by hand."""

from collections.abc import Mapping

import httpx

from cacheroute.core.clock import Instant
from cacheroute.core.dispatch.links import Links
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.health.nodes import Nodes
from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Member
from cacheroute.core.pool_outcomes import Heartbeat, Refusal, Registration, Report
from cacheroute.core.predict.coefficients import PUBLISHED
from cacheroute.core.request import RouteRequest
from cacheroute.core.resources import Resource
from cacheroute.core.routing.decision import Decisions
from cacheroute.core.routing.strategies import RoundRobin
from cacheroute.core.routing.weights import Weights
from cacheroute.core.rules import PoolRules
from cacheroute.core.scheduler_state import SchedulerState
from cacheroute.core.tally import Tally
from cacheroute.core.topology import Link, Topology
from cacheroute.planes.control import build_control_app
from cacheroute.planes.control_owner import ControlOwner, ControlRules
from cacheroute.runtime.forecasts import Forecasts
from cacheroute.runtime.traces import Traces
from cacheroute.wire import paths
from tests.cacheroute.core.pool_builders import at
from tests.cacheroute.core.test_fingerprint import LLAMA


class HandClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.instant = at(1_000.0)

    def now(self) -> Instant:
        return self.instant


class Owner:
    """The least that owns a pool: it passes everything on and keeps nothing else."""

    def __init__(self, pool_rules: PoolRules | None = None) -> None:
        self.proxy_id = "hp_127.0.0.1:8001"
        self.clock = HandClock()
        self.started = at(900.0)
        self.draining = False
        self.pool = Pool(pool_rules or PoolRules())
        self.topology = Topology()
        self.weights = Weights()
        self.strategy = RoundRobin(self.weights)
        self.capacity = 8
        self.decisions = Decisions()
        self.scheduler_state = SchedulerState(since=self.started)
        self.predictions = Forecasts(PUBLISHED, header_tokens=36)
        self.knowledge_paths: dict[str, int] = {}
        self.queue_rules = QueueRules()
        self.injection_strategy = "default"
        self.links = Links()
        self.nodes = Nodes()
        self.traces = Traces()
        self.tallies: dict[Member, Tally] = {}
        self.elsewhere: tuple[Tally, ...] = (Tally(), Tally())

    def register(self, instance: Instance) -> Registration | Refusal:
        return self.pool.register(instance, self.clock.now())

    def unregister(self, instance_id: str) -> bool:
        self.topology.drop(instance_id)
        return self.pool.unregister(instance_id) is not None

    def heartbeat(
        self,
        instance_id: str,
        *,
        qps_1m: float | None,
        gpu_util: float | None,
        capabilities: Mapping[str, object] | None,
        reported_fingerprint: str | None,
    ) -> Heartbeat:
        return self.pool.heartbeat(
            instance_id,
            self.clock.now(),
            qps_1m=qps_1m,
            gpu_util=gpu_util,
            capabilities=capabilities,
            reported_fingerprint=reported_fingerprint,
        )

    def report_resource(self, instance_id: str, resource: Resource) -> Report:
        return self.pool.report_resource(instance_id, resource, self.clock.now())

    def report_topology(self, instance_id: str, links: Mapping[str, Link]) -> str | None:
        return self.topology.report(instance_id, links, self.clock.now())


def a_client(
    owner: ControlOwner,
    rules: ControlRules | None = None,
    *,
    peer: str = "127.0.0.1",
) -> httpx.AsyncClient:
    """A client on this machine, or on another one."""
    app = build_control_app(owner, rules or ControlRules())
    transport = httpx.ASGITransport(app, client=(peer, 50_000), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://control")


VECTOR = "sha256:0dd647fc99fad67617d1255dcf5936b043bc899052754d725bcb21ada25fadc0"
CAPABILITIES = {"model": {"identifier": LLAMA}, "tokenizer": {"identifier": LLAMA}}
REGISTERED = {"host": "127.0.0.1", "port": 9001, "instance_id": "i-1"}


async def post(client: httpx.AsyncClient, path: str, **body: object) -> dict[str, object]:
    """Send a body that must be accepted and return the reply."""
    response = await client.post(path, json=body)
    assert response.status_code == 200, response.text
    reply = response.json()
    assert isinstance(reply, dict)
    return reply


async def refusal(client: httpx.AsyncClient, path: str, content: str | bytes) -> tuple[int, str]:
    """Send a body that must be refused; return the status and the field or the code."""
    response = await client.post(path, content=content)
    body = response.json()
    if isinstance(body["detail"], list):
        return response.status_code, ".".join(str(part) for part in body["detail"][0]["loc"])
    return response.status_code, body["error"]


def a_request(request_id: str) -> RouteRequest:
    """A chat of a plain client."""
    return RouteRequest(
        request_id=request_id,
        endpoint="chat/completions",
        path=paths.CHAT_COMPLETIONS,
        query=b"",
        method="POST",
        model="m",
        stream=False,
        caller="native",
        body=b"{}",
        arrived_mono_s=0.0,
        arrived_wall_s=0.0,
    )
