"""A pool with a router before it, for tests of who is chosen."""

from collections.abc import Callable, Collection

from cacheroute.core.instance import Instance
from cacheroute.core.pool import Pool
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.plan import Router
from cacheroute.core.routing.selection import Chosen, NoInstance, Selection
from cacheroute.core.routing.strategies import LeastLoad, RoundRobin, Strategy
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.core.pool_builders import a_pool, an_instance, at, joined

CHAT = "chat/completions"


def a_request(model: str | None = "m", *, endpoint: str = CHAT) -> RouteRequest:
    """A request of a plain client."""
    return RouteRequest(
        request_id="req-1",
        endpoint=endpoint,
        path=f"/v1/{endpoint}",
        query=b"",
        method="POST",
        model=model,
        stream=False,
        caller="native",
        body=b"{}",
        arrived_mono_s=0.0,
        arrived_wall_s=0.0,
    )


def instances(count: int, **given: object) -> list[Instance]:
    """Some Instances, `i-1` and on, alike but for their ports."""
    return [an_instance(f"i-{n}", port=9000 + n, **given) for n in range(1, count + 1)]


class Desk:
    """Where requests are placed, as the Proxy does it: one selection, one lease."""

    def __init__(
        self, *fleet: Instance, strategy: Strategy | None = None, waits_at_caps: bool = False
    ) -> None:
        self.pool: Pool = a_pool(*fleet)
        self.strategy: Strategy = strategy or RoundRobin(Weights())
        self.router = Router(self.strategy, waits_at_caps=waits_at_caps)
        self.now_s = 0.0
        self.resting: set[str] = set()
        """Ids of who is to be spared; say `changed` after a change."""

    def changed(self) -> None:
        """Let the router look anew, as after any change of the pool."""
        self.pool.version += 1

    def member(self, instance_id: str) -> Member:
        """The Member of an id."""
        return self.pool.members[instance_id]

    def join(self, instance: Instance) -> Member:
        """Register an Instance, or describe it anew."""
        return joined(self.pool, instance, at(self.now_s))

    def select(
        self, request: RouteRequest | None = None, excluded: Collection[Member] = ()
    ) -> Selection:
        """Ask who should get a request."""
        now = at(self.now_s)
        liveness: Callable[[Member], str] = lambda member: self.pool.liveness(member, now)  # noqa: E731
        return self.router.plan(
            request or a_request(),
            self.pool.members,
            self.pool.version,
            self.now_s,
            liveness,
            lambda member: member.instance.instance_id in self.resting,
            excluded,
        )

    def chosen(
        self, request: RouteRequest | None = None, excluded: Collection[Member] = ()
    ) -> Chosen:
        """Ask who should get a request, which somebody must."""
        selection = self.select(request, excluded)
        assert isinstance(selection, Chosen), selection
        return selection

    def nobody(
        self, request: RouteRequest | None = None, excluded: Collection[Member] = ()
    ) -> NoInstance:
        """Ask who should get a request, which nobody can."""
        selection = self.select(request, excluded)
        assert isinstance(selection, NoInstance), selection
        return selection

    def take(self, request: RouteRequest | None = None) -> Lease:
        """Place a request and hold its place."""
        member = self.chosen(request).member
        lease = self.pool.lease(member)
        self.strategy.on_change(member)
        return lease

    def give_back(self, lease: Lease) -> None:
        """Give a place back."""
        lease.release()
        self.strategy.on_change(lease.member)

    def turns(self, count: int, request: RouteRequest | None = None) -> list[str]:
        """Serve requests one after another; who got them."""
        served = []
        for _ in range(count):
            lease = self.take(request)
            served.append(lease.member.instance.instance_id)
            self.give_back(lease)
        return served


def a_least_load_desk(*fleet: Instance, **weights: float) -> Desk:
    """A desk that weighs loads."""
    return Desk(*fleet, strategy=LeastLoad(Weights(**weights)))
