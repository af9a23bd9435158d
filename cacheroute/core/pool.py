"""Who is in the pool, who is alive, and how much each has on it.

One owner calls these methods, each of them a whole transaction. Liveness is always worked
out from a Member's own silence on the monotonic clock, never stored; `version` moves
whenever what routing may choose from has changed.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from cacheroute.core.clock import Instant
from cacheroute.core.instance import Address, Instance
from cacheroute.core.orders import Orders, StandingOrders
from cacheroute.core.pool_expiry import ExpiryQueue
from cacheroute.core.pool_member import Lease, Member
from cacheroute.core.pool_outcomes import Heartbeat, Liveness, Refusal, Registration, Report
from cacheroute.core.pool_snapshot import InstanceView, PoolSnapshot
from cacheroute.core.pool_unknown import UnknownIds
from cacheroute.core.pool_upsert import described, refusal_of, with_capabilities
from cacheroute.core.resources import Resource
from cacheroute.core.rules import PoolRules

MAX_MODELS = 1024
"""Most model names kept from one probe."""
_WORTH_TELLING_S = 5.0
"""Every request is waited for; consoles would be sent a number for each busy Instance."""


class Pool:
    """Every Instance this Proxy knows, by id."""

    def __init__(self, rules: PoolRules) -> None:
        self.rules = rules
        self.members: dict[str, Member] = {}
        """In order of arrival. Read it freely; only the methods here change it."""
        self.version = 0
        """Moves with the routable set: members, models, endpoints, weights, liveness."""
        self.unknown = UnknownIds(rules.max_unknown_ids)
        """Ids that spoke to us without being registered."""
        self.orders = StandingOrders()
        """What the operator has ordered, also of Instances that are not here; see `order`."""
        self._by_address: dict[Address, Member] = {}
        self._expiry = ExpiryQueue(rules.ttl_s)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def next_expiry_mono_s(self) -> float:
        """Before this moment `expire` has nothing to do: one comparison on the hot path."""
        return self._expiry.next_mono_s

    # Coming and going

    def register(self, instance: Instance, now: Instant) -> Registration | Refusal:
        """Take an Instance in, or bring its entry up to date.

        The same id is the same entry: host, port and weight are replaced, empty endpoints
        and tags keep the old ones, meta is merged, missing capabilities are cleared, and
        what runs on it stays counted. The same address under another id is the same server
        with a new name, so the new entry takes the old one's place.
        """
        known = self.members.get(instance.instance_id)
        merged = described(instance, known.instance if known else None)
        holder = self._holder_of(merged)
        refusal = refusal_of(instance, merged, known, holder)
        if refusal:
            return refusal
        gone = [holder] if holder and holder is not known else []
        if known is None and merged.origin == "registered" and not gone and self._is_full():
            longest_dead = self._longest_dead(now)
            if longest_dead is None:
                return Refusal(
                    code="pool_full",
                    detail=(
                        f"The pool holds {self.rules.max_instances} registered Instances, which "
                        f"is as many as it may; {merged.instance_id} is not taken."
                    ),
                )
            gone.append(longest_dead)
        for leaver in gone:
            self._drop(leaver)
        if known is None:
            member = self.members[merged.instance_id] = Member(merged)
            changed = True
        else:
            member, changed = known, known.instance != merged
            if member.instance.models != merged.models or member.instance.address != merged.address:
                member.probed_models = None  # What was listed then may not be served now.
            self._by_address.pop(member.instance.address, None)
            member.instance = merged
        self.orders.apply(member)
        self._by_address[merged.address] = member
        self.unknown.forget(merged.instance_id)
        member.fingerprint_trouble = False
        self._seen(member, now)
        if changed or gone:
            self.version += 1
        return Registration(member=member, created=known is None, changed=changed, gone=tuple(gone))

    def restore(self, instance: Instance, now: Instant) -> Registration | Refusal:
        """Take back an Instance that was registered before a restart; it counts as seen now."""
        if instance.instance_id in self.members:
            return Registration(
                member=self.members[instance.instance_id], created=False, changed=False
            )
        if instance.address in self._by_address:
            holder = self._by_address[instance.address].instance
            return Refusal(
                code="address_taken",
                detail=f"{instance.authority} is held by {holder.instance_id}.",
            )
        return self.register(instance, now)

    def unregister(self, instance_id: str) -> Member | None:
        """Drop a registered Instance and return it; None for an unknown or a static id."""
        member = self.members.get(instance_id)
        if member is None or member.instance.origin == "static":
            return None
        self._drop(member)
        self.version += 1
        return member

    def reap(self, now: Instant) -> list[Member]:
        """Drop the registered Instances that have been silent for too long, and return them."""
        limit_s = self.rules.forgotten_after_s
        silent = [
            member
            for member in self.members.values()
            if member.instance.origin == "registered" and _age_s(member, now) > limit_s
        ]
        for member in silent:
            self._drop(member)
        if silent:
            self.version += 1
        return silent

    def order(self, instance_id: str, orders: Orders) -> None:
        """Note what the operator wants of an id; an Instance that is here does it at once."""
        self.orders.put(instance_id, orders)
        member = self.members.get(instance_id)
        if member is not None and self.orders.apply(member):
            self.version += 1

    # What Instances say

    def heartbeat(
        self,
        instance_id: str,
        now: Instant,
        *,
        qps_1m: float | None = None,
        gpu_util: float | None = None,
        capabilities: Mapping[str, object] | None = None,
        reported_fingerprint: str | None = None,
    ) -> Heartbeat:
        """Note that an Instance is there, and what it says of its load and capabilities.

        A full capability object replaces the known one. A fingerprint alone must equal the
        known one, else the heartbeat does not count as a sign of life.
        """
        member = self.members.get(instance_id)
        if member is None:
            return Heartbeat(status="unknown_instance", first_sight=self.unknown.saw(instance_id))
        known = member.instance.capability_fingerprint
        if capabilities is None and reported_fingerprint not in (None, known):
            member.fingerprint_trouble = True
            return Heartbeat(
                status=(
                    "capability_fingerprint_unknown"
                    if known is None
                    else "capability_fingerprint_mismatch"
                ),
                member=member,
                expected_fingerprint=known,
            )
        changed = capabilities is not None and self._describe_anew(member, capabilities)
        member.fingerprint_trouble = False
        if qps_1m is not None:
            member.qps_1m = qps_1m
        if gpu_util is not None:
            member.gpu_util = gpu_util
        self._seen(member, now)
        return Heartbeat(status="ok", member=member, changed=changed)

    def report_resource(self, instance_id: str, resource: Resource, now: Instant) -> Report:
        """Keep a resource snapshot; a sign of life unless the fingerprint is in doubt."""
        member = self.members.get(instance_id)
        if member is None:
            return Report(member=None, first_sight=self.unknown.saw(instance_id))
        first_report = member.resource is None
        member.resource = resource
        if not member.fingerprint_trouble:
            self._seen(member, now)
        return Report(member=member, first_report=first_report)

    def note_probe(self, member: Member, now: Instant) -> None:
        """Note that a Member answered a probe: the only sign of life a static one gives.

        A registered one must speak for itself.
        """
        if member.instance.origin == "static":
            self._seen(member, now)

    def set_models(self, instance_id: str, models: Iterable[str] | None) -> bool:
        """Note what an Instance's own model list says; True when that is news.

        None forgets the list. Only the first 1,024 names are kept.
        """
        member = self.members.get(instance_id)
        if member is None:
            return False
        listed = None if models is None else frozenset(itertools.islice(models, MAX_MODELS))
        if listed == member.probed_models:
            return False
        member.probed_models = listed
        self.version += 1
        return True

    # What requests need

    def lease(self, member: Member) -> Lease:
        """Book one request on a Member."""
        return Lease(member)

    def expire(self, now: Instant) -> list[Member]:
        """Return the Instances that have just fallen silent; at once when nobody is due."""
        if now.mono_s <= self._expiry.next_mono_s:
            return []
        silent = self._expiry.due(now)
        if silent:
            self.version += 1
        return silent

    def liveness(self, member: Member, now: Instant) -> Liveness:
        """Tell alive (within the TTL) from stale (up to three of them) and dead.

        A static Instance is always alive: whether it works is for health to say.
        """
        if member.instance.origin == "static":
            return "alive"
        # Written as in the expiry queue, so that rounding cannot make the two disagree.
        if now.mono_s <= member.last_seen_mono_s + self.rules.ttl_s:
            return "alive"
        dead_mono_s = member.last_seen_mono_s + self.rules.dead_after_s
        return "stale" if now.mono_s <= dead_mono_s else "dead"

    def alive(self, now: Instant) -> Iterator[Member]:
        """Iterate over the Members that are alive, in order of arrival."""
        return (m for m in self.members.values() if self.liveness(m, now) == "alive")

    def willing(self, now: Instant) -> Iterator[Member]:
        """Iterate over the Members that take new requests: alive, not drained, with a weight."""
        return (m for m in self.alive(now) if not m.draining and m.weight > 0)

    def snapshot(self, now: Instant) -> PoolSnapshot:
        """Freeze the pool as it is now, for whoever wants to look longer than a moment."""
        return PoolSnapshot(
            version=self.version,
            taken_at=now,
            views=tuple(self.view(member, now) for member in self.members.values()),
        )

    def view(self, member: Member, now: Instant) -> InstanceView:
        """Freeze one Member as it is now."""
        return InstanceView(
            instance=member.instance,
            liveness=self.liveness(member, now),
            inflight=member.inflight,
            age_s=_age_s(member, now),
            qps_1m=member.qps_1m,
            gpu_util=member.gpu_util,
            resource=member.resource,
            models=member.models,
            orders=self.orders.of(member.instance.instance_id),
            draining=member.draining,
            weight=member.weight,
            ejected_for_s=max(0.0, member.ejected_until_mono_s - now.mono_s),
            unanswered_s=unanswered_s(member, now),
            pressure=None if member.queues is None else member.queues.pressure(now.mono_s),
        )

    # The inside

    def _holder_of(self, instance: Instance) -> Member | None:
        """Return the Member at an Instance's address, under whatever id."""
        holder = self._by_address.get(instance.address)
        if holder is not None or instance.origin == "static":
            return holder
        # A server that is configured by model is at another address than the server by itself,
        # and would stand in the pool once more when it registers.
        configured = (m for m in self.members.values() if m.instance.origin == "static")
        return next((m for m in configured if m.instance.server == instance.server), None)

    def _seen(self, member: Member, now: Instant) -> None:
        member.last_seen_mono_s = now.mono_s
        member.last_seen_wall_s = now.wall_s
        if member.instance.origin == "static":
            self._expiry.unwatch(member)
        elif self._expiry.watch(member):
            self.version += 1  # It is new here, or back from silence.

    def _describe_anew(self, member: Member, capabilities: Mapping[str, object]) -> bool:
        before = member.instance
        member.instance = with_capabilities(before, capabilities)
        if member.instance.models != before.models:
            member.probed_models = None
            self.version += 1
        return member.instance != before

    def _is_full(self) -> bool:
        most = self.rules.max_instances
        if len(self.members) < most:
            return False
        return sum(m.instance.origin == "registered" for m in self.members.values()) >= most

    def _longest_dead(self, now: Instant) -> Member | None:
        dead = [m for m in self.members.values() if self.liveness(m, now) == "dead"]
        return min(dead, key=lambda m: m.last_seen_mono_s, default=None)

    def _drop(self, member: Member) -> None:
        del self.members[member.instance.instance_id]
        del self._by_address[member.instance.address]
        self._expiry.unwatch(member)
        member.places.clear()


def unanswered_s(member: Member, now: Instant) -> float | None:
    """How long it has answered nothing while requests wait; None while none waits for long."""
    since_mono_s = member.unanswered_since_mono_s
    if since_mono_s is None or not member.awaiting:
        return None
    silent_s = now.mono_s - since_mono_s
    return silent_s if silent_s >= _WORTH_TELLING_S else None


def _age_s(member: Member, now: Instant) -> float:
    return max(0.0, now.mono_s - member.last_seen_mono_s)
