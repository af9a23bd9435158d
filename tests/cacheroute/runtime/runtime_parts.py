"""A Proxy, requests and clients without any socket, and a clock that stands still."""

from typing import Any, cast

from cacheroute.core.clock import Instant
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.health.ejection import Ejections
from cacheroute.core.health.rules import EjectionRules
from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.registry import find
from cacheroute.core.routing.selection import NoInstance
from cacheroute.core.routing.weights import Weights
from cacheroute.core.rules import PoolRules
from cacheroute.dataplane.inbound import Inbound
from cacheroute.runtime.proxy import Placement, Proxy
from cacheroute.upstream.answer import JsonWatch, StreamWatch, Watch
from cacheroute.upstream.exchange import Exchange
from tests.cacheroute.core.pool_builders import joined


class HandClock:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.mono_s = 1000.0
        self.wall_s = 1.7e9

    def now(self) -> Instant:
        return Instant(self.mono_s, self.wall_s)

    def wait(self, seconds: float) -> None:
        self.mono_s += seconds
        self.wall_s += seconds


def a_proxy(
    *fleet: Instance,
    strategy: str = "round_robin",
    queue_rules: QueueRules | None = None,
    **ejection: float,
) -> tuple[Proxy, HandClock]:
    """A Proxy in which these Instances have registered, and its clock."""
    clock = HandClock()
    row = find(strategy)
    assert row is not None
    proxy = Proxy(
        proxy_id="hp_test",
        clock=clock,
        pool=Pool(PoolRules()),
        strategy=row.build(Weights()),
        ejections=Ejections(EjectionRules(**ejection)),  # type: ignore[arg-type]
        mono_s=lambda: clock.mono_s,
        queues=queue_rules or QueueRules(),
    )
    for instance in fleet:
        joined(proxy.pool, instance, clock.now())
    return proxy, clock


def member_of(proxy: Proxy, instance_id: str) -> Member:
    return proxy.pool.members[instance_id]


def placed(
    proxy: Proxy, request: RouteRequest, excluded: tuple[Member, ...] = (), attempt: int = 1
) -> Placement:
    """Place a request, which must work."""
    placement = proxy.place(request, excluded, attempt)
    assert not isinstance(placement, NoInstance), placement.reason
    return placement


def an_inbound(*, status: int | None = None, bytes_out: int = 0) -> Inbound:
    """A client's request that has been answered like this so far."""
    inbound = Inbound(
        cast(Any, None), "POST", b"/v1/x", [], {}, b"{}", is_http_10=False, keep_alive=True
    )
    inbound.status = status
    inbound.bytes_out = bytes_out
    return inbound


def an_exchange(
    watch: Watch | None = None,
    *,
    status: int = 200,
    ended: bool = True,
    fields: dict[bytes, bytes] | None = None,
) -> Exchange:
    """An exchange that was never sent, with the answer that it is said to have had."""
    exchange = Exchange(
        cast(Any, None), b"", b"", expects_body=True, clock=lambda: 0.0, event_limit_bytes=1 << 24
    )
    exchange._outbound.status = status
    exchange._outbound.fields = fields or {}
    exchange.watch = watch or Watch()
    exchange.ended = ended
    return exchange


def a_json_watch(body: bytes) -> Watch:
    watch = JsonWatch()
    watch.feed(body)
    watch.close()
    return watch


def a_stream_watch(*pieces: bytes, first_token_s: float | None = None) -> StreamWatch:
    watch = StreamWatch(lambda: first_token_s or 0.0, 1 << 24)
    for piece in pieces:
        watch.feed(piece)
    return watch
