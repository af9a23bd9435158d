"""An Instance as this Proxy knows it: its description, and what was seen of it.

Mutable on purpose. Every request moves `inflight`, and a frozen record would cost a
hundred times the request's share of it. Only the owner touches a Member; whoever wants to
keep or show one takes a snapshot.
"""

from collections.abc import Sequence
from typing import Protocol

from cacheroute.core.instance import Instance
from cacheroute.core.pressure import Course, Queues
from cacheroute.core.resources import Resource


class Ranking(Protocol):
    """Members of a list by what they cost."""

    def put(self, index: int, value: float) -> None:
        """Set what a Member without queues costs."""
        ...

    def put_moving(self, index: int, cost: float, course: Course | None) -> None:
        """Set what a Member with queues costs, and how that goes on."""
        ...


class Place(Protocol):
    """A list that a Member may be chosen from, with a ranking for each standing."""

    @property
    def ranks(self) -> Sequence[Ranking]:
        """The rankings by standing."""
        ...

    is_even: bool
    """Whether all in it have the same weight."""

    def put(self, index: int, number: float) -> None:
        """Set a Member's number, in the ranking of its standing."""
        ...

    def move(self, index: int, before: int, after: int) -> None:
        """Take a Member out of the ranking of its earlier standing."""
        ...


class Member:
    """One entry of the pool, from its registration until it goes."""

    __slots__ = (
        "awaiting",
        "draining",
        "due",
        "ejected_until_mono_s",
        "fingerprint_trouble",
        "given_up_mono_s",
        "gpu_util",
        "inflight",
        "instance",
        "last_seen_mono_s",
        "last_seen_wall_s",
        "places",
        "probed_models",
        "qps_1m",
        "queues",
        "resource",
        "rest",
        "standing",
        "unanswered_since_mono_s",
        "watched",
        "weight",
    )

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.inflight = 0
        """Requests on it right now; moved by leases alone."""
        self.awaiting = 0
        """Requests that were sent to it and of whose answer nothing has come."""
        self.unanswered_since_mono_s: float | None = None
        """Since when it has begun and ended no answer, though it was sent requests."""
        self.given_up_mono_s = 0.0
        """When one of them was last cut, or left by its client."""
        self.last_seen_mono_s = 0.0
        """When it last spoke, on our monotonic clock; the only thing liveness asks."""
        self.last_seen_wall_s = 0.0
        """The same on our wall clock at that moment; for people, and wrong after a jump."""
        self.qps_1m: float | None = None
        """Requests a second it reported for itself."""
        self.gpu_util: float | None = None
        """GPU use it reported in a heartbeat, in percent."""
        self.resource: Resource | None = None
        """Its last resource snapshot, normalised."""
        self.probed_models: frozenset[str] | None = None
        """What its own `/v1/models` listed; None until it was asked."""
        self.queues: Queues | None = None
        """What waits and runs for it; None while nothing is queued for it."""
        self.draining = False
        """Whether it is to take no new requests."""
        self.ejected_until_mono_s = 0.0
        """Until when health keeps it out; in the past means not at all."""
        self.rest: object | None = None
        """What health remembers about it."""
        self.places: list[tuple[Place, int]] = []
        """Where routing's index holds it."""
        self.standing = 0
        """As routing saw it last: 0 has room for one more request; see `routing.tiers`."""
        self.due = 0.0
        """Its next weighted turn, 1/weight after its last, in stride scheduling's virtual time."""
        self.fingerprint_trouble = False
        """Whether its last heartbeat contradicted the capabilities known here."""
        self.weight = instance.weight
        """Its share against others: its own, or what the operator has ordered; 0 takes nothing."""
        self.watched = False
        """Whether an expiry is scheduled for it; never for a static one."""

    def __repr__(self) -> str:
        return f"<Member {self.instance.instance_id} {self.inflight} inflight>"

    @property
    def models(self) -> frozenset[str] | None:
        """Models it declared or was seen to list; None when neither is known.

        Both, since an engine may declare the path of its weights and serve them by
        another name.
        """
        declared, probed = self.instance.models, self.probed_models
        if declared is None or probed is None:
            return declared if probed is None else probed
        return declared | probed


class Lease:
    """One request's claim on a Member, given back exactly once.

    Tied to the Member and not to its id: a lease that outlives an unregistration and a
    new registration under the same id leaves the new record alone.
    """

    __slots__ = ("held", "member")

    def __init__(self, member: Member) -> None:
        self.member = member
        self.held = True
        """Whether it still counts."""
        member.inflight += 1

    def release(self) -> None:
        """Give the slot back; a second call does nothing."""
        if self.held:
            self.held = False
            self.member.inflight -= 1
