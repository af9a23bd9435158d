"""A registry that is remembered for as long as the process lives."""

from cacheroute.core.instance import Instance
from cacheroute.stores.base import Loaded
from cacheroute.stores.rows import from_row, to_row


class MemoryRegistry:
    """Keeps the same rows as a file would, so that nothing more survives here than there."""

    def __init__(self) -> None:
        self._rows: dict[str, str] = {}

    def save(self, instance: Instance) -> None:
        """Remember an Instance; a static one is passed over."""
        if instance.origin == "registered":
            self._rows[instance.instance_id] = to_row(instance)

    def remove(self, instance_id: str) -> None:
        """Forget an Instance."""
        self._rows.pop(instance_id, None)

    def load_all(self) -> Loaded:
        """Return everything that is remembered."""
        found = (from_row(row) for row in self._rows.values())
        return Loaded(instances=tuple(sorted(found, key=lambda it: it.registered_wall_s)))

    def close(self) -> None:
        """Nothing is held open."""
