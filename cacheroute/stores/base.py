"""What a store of the registry can do, whatever it writes to.

It remembers registered Instances across a restart, so that they need not be started again.
Static ones come from the configuration and keys from their owners: neither is ever written.
"""

from dataclasses import dataclass
from typing import Protocol

from cacheroute.core.errors import CacheRouteError
from cacheroute.core.instance import Instance


class StoreError(CacheRouteError):
    """The store could not be read or written; what is in memory is still right."""

    code = "store_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What was remembered."""

    instances: tuple[Instance, ...]
    """In order of their first registration."""
    skipped: tuple[str, ...] = ()
    """One sentence for each row that made no sense and was left out."""


class RegistryStore(Protocol):
    """Remembers registered Instances."""

    def save(self, instance: Instance) -> None:
        """Remember an Instance, or its new description; a static one is passed over."""
        ...

    def remove(self, instance_id: str) -> None:
        """Forget an Instance; nothing happens when it was not remembered."""
        ...

    def load_all(self) -> Loaded:
        """Return everything that is remembered."""
        ...

    def close(self) -> None:
        """Let go of what is held open."""
        ...
