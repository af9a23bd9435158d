"""What of the pool outlives this process, written as it changes and read once at the start.

Serving matters more than remembering: a store that fails is told of once, and what is in
memory stands. What could not be written is written when the store works again: an Instance
that has registered does not do so a second time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from cacheroute.stores.base import Loaded, SavedLinks, StoreError

if TYPE_CHECKING:
    from cacheroute.core.instance import Instance
    from cacheroute.core.topology import Link
    from cacheroute.stores.base import RegistryStore

log = logging.getLogger("cacheroute.pool")

MAX_OWED = 10_000
"""Most ids of Instances that are remembered to be written later."""

Known = tuple["Instance", "SavedLinks | None"]
"""What is to be kept of one Instance."""


class Keeping:
    """The store, as something that never fails."""

    def __init__(self, store: RegistryStore) -> None:
        self._store = store
        self._fails = False
        self._owed: dict[str, None] = {}

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
            self._try(instance.instance_id, lambda: self._store.save(instance))

    def save_links(
        self, instance: Instance, links: Mapping[str, Link], reported_wall_s: float
    ) -> None:
        """Keep what a registered Instance reported last, in place of what it did before."""
        if instance.origin == "registered":
            report = SavedLinks(links=links, reported_wall_s=reported_wall_s) if links else None
            instance_id = instance.instance_id
            self._try(instance_id, lambda: self._store.save_links(instance_id, report))

    def remove(self, instance_id: str) -> None:
        """Keep an Instance and its links no longer."""
        self._try(instance_id, lambda: self._store.remove(instance_id))

    def catch_up(self, known: Callable[[str], Known | None]) -> None:
        """Write what could not be written before, as it is known by now; None has left."""
        while self._owed:
            instance_id = next(iter(self._owed))
            del self._owed[instance_id]
            self._try(instance_id, partial(self._write, instance_id, known(instance_id)))
            if self._fails:
                return
            if not self._owed:
                log.info("registry.caught_up")

    def _write(self, instance_id: str, known: Known | None) -> None:
        if known is None:
            self._store.remove(instance_id)
        else:
            instance, report = known
            self._store.save(instance)
            self._store.save_links(instance_id, report)

    def _try(self, instance_id: str, act: Callable[[], None]) -> None:
        try:
            act()
        except StoreError as error:
            if not self._fails:
                log.warning("registry.not_kept reason=%s", error.message)
            self._fails = True
            self._owed[instance_id] = None
            if len(self._owed) > MAX_OWED:
                del self._owed[next(iter(self._owed))]
        else:
            self._fails = False
