"""What the operator has ordered of Instances; it holds until it is taken back.

An Instance describes itself as often as it likes and may leave and come again; an order
belongs to its id and outlives all of that.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cacheroute.core.pool_member import Member

MAX_ORDERS = 10_000
"""Most ids that may have orders at a time; only ids that were in the pool get any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """What holds for one id."""

    draining: bool = False
    """Whether it is to take no new requests; what runs on it may end."""
    reason: str | None = None
    """Why it is drained, in the operator's words."""
    since_wall_s: float | None = None
    """When it was drained, in seconds since the epoch; for people."""
    weight: float | None = None
    """Its share against others; None leaves it to the Instance."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is ordered."""
        return not self.draining and self.weight is None


NONE = Orders()


class StandingOrders:
    """The orders by id, also of Instances that are not here now."""

    __slots__ = ("_by_id",)

    def __init__(self) -> None:
        self._by_id: dict[str, Orders] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __contains__(self, instance_id: object) -> bool:
        return instance_id in self._by_id

    def of(self, instance_id: str) -> Orders:
        """Return what holds for an id."""
        return self._by_id.get(instance_id, NONE)

    def put(self, instance_id: str, orders: Orders) -> None:
        """Order something else of an id; an empty order is forgotten."""
        if orders.is_empty:
            self._by_id.pop(instance_id, None)
        else:
            self._by_id[instance_id] = orders

    def apply(self, member: Member) -> bool:
        """Make a Member do as it is told; True when that changes who may be chosen."""
        orders = self.of(member.instance.instance_id)
        weight = member.instance.weight if orders.weight is None else orders.weight
        is_news = (member.draining, member.weight) != (orders.draining, weight)
        member.draining, member.weight = orders.draining, weight
        return is_news
