"""What of the pool outlives this process, written as it changes and read once at the start.

Serving matters more than remembering: a store that fails is told of once, and what is in
memory stands.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cacheroute.stores.base import Loaded, SavedLinks, StoreError

if TYPE_CHECKING:
    from cacheroute.core.instance import Instance
    from cacheroute.core.topology import Link
    from cacheroute.stores.base import RegistryStore

log = logging.getLogger("cacheroute.pool")


class Keeping:
    """The store, as something that never fails."""

    def __init__(self, store: RegistryStore) -> None:
        self._store = store
        self._fails = False

    def load(self) -> Loaded:
        """Return what was kept; nothing where it cannot be read."""
        try:
            loaded = self._store.load_all()
        except StoreError as error:
            log.warning("registry.unreadable reason=%s", error.message)
            return Loaded(instances=())
        for complaint in loaded.skipped:
            log.warning("registry.skipped reason=%s", complaint)
        return loaded

    def save(self, instance: Instance) -> None:
        """Keep an Instance; a static one is in the settings."""
        if instance.origin == "registered":
            self._try(lambda: self._store.save(instance))

    def save_links(
        self, instance: Instance, links: Mapping[str, Link], reported_wall_s: float
    ) -> None:
        """Keep what a registered Instance reported last, in place of what it did before."""
        if instance.origin == "registered":
            report = SavedLinks(links=links, reported_wall_s=reported_wall_s) if links else None
            self._try(lambda: self._store.save_links(instance.instance_id, report))

    def remove(self, instance_id: str) -> None:
        """Keep an Instance and its links no longer."""
        self._try(lambda: self._store.remove(instance_id))

    def _try(self, act: Callable[[], None]) -> None:
        try:
            act()
        except StoreError as error:
            if not self._fails:
                log.warning("registry.not_kept reason=%s", error.message)
            self._fails = True
        else:
            self._fails = False
