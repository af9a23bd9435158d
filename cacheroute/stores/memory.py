"""A registry that is remembered for as long as the process lives."""

from cacheroute.core.instance import Instance
from cacheroute.core.orders import Orders
from cacheroute.stores.base import Loaded, SavedLinks
from cacheroute.stores.rows import (
    from_row,
    links_from_row,
    links_to_row,
    orders_from_row,
    orders_to_row,
    to_row,
)


class MemoryRegistry:
    """Keeps the same rows as a file would, so that nothing more survives here than there."""

    def __init__(self) -> None:
        self._rows: dict[str, str] = {}
        self._links: dict[str, str] = {}
        self._orders: dict[str, str] = {}

    def save(self, instance: Instance) -> None:
        """Remember an Instance; a static one is passed over."""
        if instance.origin == "registered":
            self._rows[instance.instance_id] = to_row(instance)

    def save_links(self, instance_id: str, report: SavedLinks | None) -> None:
        """Remember the links of an Instance that is remembered, or that it has none."""
        if report is None:
            self._links.pop(instance_id, None)
        elif instance_id in self._rows:
            self._links[instance_id] = links_to_row(report)

    def remove(self, instance_id: str) -> None:
        """Forget an Instance and its links."""
        self._rows.pop(instance_id, None)
        self._links.pop(instance_id, None)

    def load_all(self) -> Loaded:
        """Return everything that is remembered."""
        found = (from_row(row) for row in self._rows.values())
        return Loaded(
            instances=tuple(sorted(found, key=lambda it: it.registered_wall_s)),
            links={instance_id: links_from_row(row) for instance_id, row in self._links.items()},
        )

    def save_orders(self, instance_id: str, orders: Orders) -> bool:
        """Remember the orders of an id for as long as this process lives."""
        self._orders.pop(instance_id, None)
        if not orders.is_empty:
            self._orders[instance_id] = orders_to_row(orders)
        return False

    def load_orders(self) -> dict[str, Orders]:
        """Return all orders by id."""
        return {instance_id: orders_from_row(row) for instance_id, row in self._orders.items()}

    def close(self) -> None:
        """Nothing is held open."""
