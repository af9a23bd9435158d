"""What a change of Instances would do, worked out before anything is touched.

Who is told what runs there and who is left to serve can say yes or no with open eyes; a change
that leaves nobody is objected to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from cacheroute.core.changes import (
    Change,
    Condition,
    Effect,
    Objection,
    Verb,
    models_lost,
    named,
)
from cacheroute.core.health.ejection import Ejections
from cacheroute.settings.nearest import nearest

if TYPE_CHECKING:
    from cacheroute.core.orders import Orders
    from cacheroute.core.pool_member import Member
    from cacheroute.runtime.proxy import Proxy

_COMPARED_IDS = 1_000
"""Most ids that an unknown one is compared with: each costs 10 us of everybody's time."""

_ONCE = {"drain": "drained", "weight": "at weight 0", "unregister": "unregistered"}


class Outlook:
    """Looks at the pool as it is, and as it would be."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    def condition(self, instance_id: str) -> Condition:
        """Return how an Instance is used now."""
        pool = self._proxy.pool
        member, orders = pool.members.get(instance_id), pool.orders.of(instance_id)
        return Condition(
            state="gone" if member is None else pool.liveness(member, self._proxy.clock.now()),
            draining=orders.draining,
            reason=orders.reason,
            weight=orders.weight if member is None else member.weight,
            own_weight=None if member is None else member.instance.weight,
            weight_fixed=orders.weight is not None,
        )

    def serving(self, changed: Mapping[str, Condition]) -> list[Member]:
        """Return who takes new requests, once some are used differently."""
        pool = self._proxy.pool
        serving = []
        for member in pool.alive(self._proxy.clock.now()):
            after = changed.get(member.instance.instance_id)
            if after is None:
                takes_more = not member.draining and member.weight > 0
            else:
                takes_more = after.state != "gone" and not after.draining and bool(after.weight)
            if takes_more:
                serving.append(member)
        return serving

    def effect(
        self,
        verb: Verb,
        before: Mapping[str, Condition],
        after: Mapping[str, Condition],
        *,
        force: bool,
        dry_run: bool,
    ) -> Effect | Objection:
        """Return what a change does; an objection when it leaves nobody and is not forced."""
        serving, left = self.serving({}), self.serving(after)
        lost = models_lost(serving, left)
        if not force and (lost or (serving and not left)):
            who = f"takes requests for {named(lost)}" if left else "takes new requests"
            return Objection(
                code="nobody_left",
                detail=f"Nobody {who} once {named(before)} {'is' if len(before) == 1 else 'are'} "
                f"{_ONCE.get(verb, 'changed')}.",
            )
        return Effect(
            verb=verb,
            dry_run=dry_run,
            changes=tuple(self._change(each, before[each], after[each]) for each in before),
            left=tuple(member.instance.instance_id for member in left),
            left_resting=sum(
                Ejections.rests_at(member, self._proxy.clock.now().mono_s) for member in left
            ),
            left_without=lost,
        )

    def unknown(self, ids: Sequence[str]) -> Objection | None:
        """Object to ids that nobody has, with the one that may have been meant."""
        if not ids:
            return None
        pool = self._proxy.pool
        known = {**pool.members, **dict.fromkeys(pool.orders)}
        near = nearest(ids[0], islice(known, _COMPARED_IDS))
        others = f", nor {named(ids[1:])}" if ids[1:] else ""
        return Objection(
            code="unknown_instance",
            detail=f"There is no Instance {ids[0]}{others}"
            + (f"; was {near} meant?" if near else "."),
            nearest=near,
        )

    def _change(self, instance_id: str, before: Condition, after: Condition) -> Change:
        member = self._proxy.pool.members.get(instance_id)
        waiting = 0
        if member is not None and member.queues is not None:
            queues = member.queues
            waiting = queues.prepare_queue_depth + queues.ready_queue_depth + queues.active_prepare
        return Change(
            instance_id=instance_id,
            before=before,
            after=after,
            inflight=0 if member is None else member.inflight,
            waiting=waiting,
        )


def under(before: Condition, orders: Orders) -> Condition:
    """Return how an Instance is used under other orders."""
    return replace(
        before,
        draining=orders.draining,
        reason=orders.reason,
        weight=before.own_weight if orders.weight is None else orders.weight,
        weight_fixed=orders.weight is not None,
    )
