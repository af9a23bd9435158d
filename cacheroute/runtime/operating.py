"""What the operator changes while the Proxy runs: who takes requests, how many, and by which rule.

Each method is a whole transaction: all Instances of a change are looked at before the first is
touched, what happened is written down, and asking twice does no more than asking once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING

from cacheroute.core.changes import Effect, Objection, StrategyChange, Verb, Who, named
from cacheroute.core.errors import CacheRouteError
from cacheroute.core.orders import MAX_ORDERS, Orders
from cacheroute.core.routing.registry import find, known_names
from cacheroute.runtime.ledger import Audit, Ledger
from cacheroute.runtime.outlook import Outlook, under

if TYPE_CHECKING:
    from cacheroute.core.routing.weights import Weights
    from cacheroute.runtime.proxy import Proxy
    from cacheroute.stores.base import OrderStore

log = logging.getLogger("cacheroute.admin")


class Operator:
    """The half of the owner that does as the operator says."""

    def __init__(
        self,
        *,
        proxy: Proxy,
        store: OrderStore,
        audit: Audit,
        weights: Weights,
        unregister: Callable[[str], bool],
    ) -> None:
        self._proxy = proxy
        self._store = store
        self._weights = weights
        self._unregister = unregister
        self._outlook = Outlook(proxy)
        self._ledger = Ledger(audit, proxy.clock)
        self.configured = proxy.strategy.name
        """The strategy of the settings, which a restart brings back."""

    @property
    def strategy(self) -> str:
        """The strategy that routes."""
        return self._proxy.strategy.name

    def restore(self) -> None:
        """Take back what was ordered before a restart; must come before the Instances do."""
        try:
            orders = self._store.load_orders()
        except CacheRouteError as error:
            log.warning("orders.unreadable reason=%s", error.message)
            return
        for instance_id, each in islice(orders.items(), MAX_ORDERS):
            self._proxy.pool.order(instance_id, each)
        if orders:
            log.info("orders.restored instances=%d", len(orders))

    def drain(
        self, ids: Sequence[str], who: Who, *, reason: str | None, force: bool, dry_run: bool
    ) -> Effect | Objection:
        """Let Instances take no new requests; who waits for one goes elsewhere if possible."""
        since_wall_s = self._proxy.clock.now().wall_s

        def drained(orders: Orders) -> Orders:
            if orders.draining:
                return orders if reason is None else replace(orders, reason=reason)
            return replace(orders, draining=True, reason=reason, since_wall_s=since_wall_s)

        return self._order("drain", ids, drained, who, force=force, dry_run=dry_run)

    def undrain(self, ids: Sequence[str], who: Who, *, dry_run: bool) -> Effect | Objection:
        """Let Instances take requests again."""

        def undrained(orders: Orders) -> Orders:
            return replace(orders, draining=False, reason=None, since_wall_s=None)

        return self._order("undrain", ids, undrained, who, force=True, dry_run=dry_run)

    def weigh(
        self, ids: Sequence[str], weight: float | None, who: Who, *, force: bool, dry_run: bool
    ) -> Effect | Objection:
        """Give Instances another share than their own; None gives them their own again."""

        def weighed(orders: Orders) -> Orders:
            return replace(orders, weight=weight)

        return self._order("weight", ids, weighed, who, force=force, dry_run=dry_run)

    def unregister(
        self, ids: Sequence[str], who: Who, *, force: bool, dry_run: bool
    ) -> Effect | Objection:
        """Let registered Instances go; one that lives comes back with its next heartbeat."""
        members = self._proxy.pool.members
        objection = self._outlook.unknown([each for each in ids if each not in members])
        if objection is not None:
            return objection
        static = [each for each in ids if members[each].instance.origin == "static"]
        if static:
            return Objection(
                code="static_instance",
                detail=(
                    f"{named(static)} is in the configuration, and leaves the pool when it "
                    "leaves that; drain it to keep requests away."
                ),
            )
        before = {each: self._outlook.condition(each) for each in ids}
        after = {each: replace(before[each], state="gone") for each in ids}
        effect = self._outlook.effect("unregister", before, after, force=force, dry_run=dry_run)
        return self._carried_out(effect, who, self._unregister)

    def use_strategy(self, name: str, who: Who, *, dry_run: bool) -> StrategyChange | Objection:
        """Route by another strategy from the next request on; what runs stays where it is."""
        row, proxy = find(name), self._proxy
        if row is None:
            return Objection(
                code="unknown_strategy",
                detail=f"No strategy is called {name!r}; there are {known_names()}.",
            )
        change = StrategyChange(
            before=self.strategy,
            after=row.name,
            dry_run=dry_run,
            inflight=sum(member.inflight for member in proxy.pool.members.values()),
            left=len(self._outlook.serving({})),
        )
        if change.changed and not dry_run:
            proxy.use(row.build(self._weights))
            self._ledger.note(
                "strategy",
                who,
                instance_id=None,
                before=change.before,
                after=change.after,
                inflight=change.inflight,
            )
        return change

    # Within

    def _order(
        self,
        verb: Verb,
        ids: Sequence[str],
        changed: Callable[[Orders], Orders],
        who: Who,
        *,
        force: bool,
        dry_run: bool,
    ) -> Effect | Objection:
        pool = self._proxy.pool
        strangers = [each for each in ids if each not in pool.members and each not in pool.orders]
        objection = self._outlook.unknown(strangers)
        if objection is not None:
            return objection
        wanted = {each: changed(pool.orders.of(each)) for each in ids}
        added = [i for i, orders in wanted.items() if not orders.is_empty and i not in pool.orders]
        if len(pool.orders) + len(added) > MAX_ORDERS:
            return Objection(
                code="too_many_orders",
                detail=f"{len(pool.orders)} Instances have orders, and {MAX_ORDERS} may have any.",
            )
        before = {each: self._outlook.condition(each) for each in ids}
        after = {each: under(before[each], orders) for each, orders in wanted.items()}
        effect = self._outlook.effect(verb, before, after, force=force, dry_run=dry_run)
        return self._carried_out(effect, who, lambda each: self._obey(each, wanted[each]))

    def _carried_out(
        self, effect: Effect | Objection, who: Who, act: Callable[[str], bool]
    ) -> Effect | Objection:
        if isinstance(effect, Objection) or effect.dry_run:
            return effect
        kept = True
        for change in effect.changes:
            if change.changed:
                kept = act(change.instance_id) and kept
                self._ledger.note(
                    effect.verb,
                    who,
                    instance_id=change.instance_id,
                    before=asdict(change.before),
                    after=asdict(change.after),
                    inflight=change.inflight,
                )
        return replace(effect, kept=kept)

    def _obey(self, instance_id: str, orders: Orders) -> bool:
        """Do as ordered from now on; tells whether the order outlives this process."""
        pool = self._proxy.pool
        pool.order(instance_id, orders)
        member = pool.members.get(instance_id)
        if member is not None and orders.draining:
            self._proxy.turnstiles.look_round(member)
        try:
            return self._store.save_orders(instance_id, orders)
        except CacheRouteError as error:
            log.warning("orders.not_kept instance_id=%s reason=%s", instance_id, error.message)
            return False
