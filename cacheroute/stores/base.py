"""What a store of the registry can do, whatever it writes to.

It remembers registered Instances and the links they have measured across a restart, so that
they need not be started again, and what the operator has ordered of any Instance. Static ones
come from the configuration and keys from their owners: neither is ever written.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cacheroute.core.errors import CacheRouteError
from cacheroute.core.instance import Instance
from cacheroute.core.orders import Orders
from cacheroute.core.topology import Link


class StoreError(CacheRouteError):
    """The store could not be read or written; what is in memory is still right."""

    code = "store_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLinks:
    """The last report of one Instance."""

    links: Mapping[str, Link]
    """By knowledge node, under the keys it used."""
    reported_wall_s: float
    """When it came, in seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was remembered."""

    instances: tuple[Instance, ...]
    """In order of their first registration."""
    links: Mapping[str, SavedLinks] = field(default_factory=dict)
    """What those that ever reported links reported last, by their ids."""
    skipped: tuple[str, ...] = ()
    """One sentence for each row that made no sense and was left out."""


class RegistryStore(Protocol):
    """Remembers registered Instances."""

    def save(self, instance: Instance) -> None:
        """Remember an Instance, or its new description; a static one is passed over."""
        ...

    def save_links(self, instance_id: str, report: SavedLinks | None) -> None:
        """Remember the links of an Instance that is remembered, or that it has none."""
        ...

    def remove(self, instance_id: str) -> None:
        """Forget an Instance and its links; nothing happens when it was not remembered."""
        ...

    def load_all(self) -> Loaded:
        """Return everything that is remembered."""
        ...

    def close(self) -> None:
        """Let go of what is held open."""
        ...


class OrderStore(Protocol):
    """Remembers what the operator has ordered, whether or not the Instance is there."""

    def save_orders(self, instance_id: str, orders: Orders) -> bool:
        """Remember the orders of an id, or that it has none; tells if they outlive the process."""
        ...

    def load_orders(self) -> dict[str, Orders]:
        """Return all orders by id; what makes no sense is left out."""
        ...


class Store(RegistryStore, OrderStore, Protocol):
    """Everything that is remembered of Instances."""
