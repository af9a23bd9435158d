"""What an operator changes, as values: who asked, how it was, how it is, who is left to serve."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from cacheroute.core.pool_member import Member

Verb = Literal["drain", "undrain", "weight", "unregister", "strategy"]

ObjectionCode = Literal[
    "unknown_instance", "static_instance", "nobody_left", "too_many_orders", "unknown_strategy"
]

_NAMED_AT_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Who asks for a change, as far as that can be told."""

    peer: str
    """Address that the call came from."""
    user: str | None = None
    """What the caller says it is called; nobody has checked that."""
    token: str | None = None
    """Fingerprint of the token it has shown, never the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """How one Instance is to be used."""

    state: str
    """`alive`, `stale`, `dead`, or `gone` when it is not in the pool."""
    draining: bool
    reason: str | None
    """Why it is drained."""
    weight: float | None
    """Its share as it counts; None for one that is not here and has no order."""
    own_weight: float | None
    """The share it gave itself."""
    weight_fixed: bool
    """Whether the share is the operator's, whatever the Instance says of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a change does to one Instance."""

    instance_id: str
    before: Condition
    after: Condition
    inflight: int
    """Requests on it, those that wait for it included."""
    waiting: int
    """How many of them have not been sent to it yet."""

    @property
    def changed(self) -> bool:
        """Whether anything is different now."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a change of Instances does, done or only asked about."""

    verb: Verb
    dry_run: bool
    """Whether nothing was changed."""
    changes: tuple[Change, ...]
    left: tuple[str, ...]
    """Ids of those that take new requests afterwards."""
    left_resting: int
    """How many of these rest after failures at this moment."""
    left_without: tuple[str, ...]
    """Models that somebody takes requests for now, and nobody afterwards."""
    kept: bool = True
    """Whether what was changed outlives this process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyChange:
    """What a change of the strategy does."""

    before: str
    after: str
    dry_run: bool
    inflight: int
    """Requests that run, and go on as they were placed."""
    left: int
    """Instances that the next requests are placed on."""

    @property
    def changed(self) -> bool:
        """Whether another strategy routes now."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """A change is refused, and nothing is different."""

    code: ObjectionCode
    detail: str
    """One sentence with the values that decided."""
    nearest: str | None = None
    """The name that may have been meant."""


def models_lost(serving: Iterable[Member], left: Collection[Member]) -> tuple[str, ...]:
    """Return the models that are served by some, and by none of those that are left.

    Who does not say what it serves may serve anything, and so may one that writes the name of
    its model into every request.
    """
    if any(m.models is None or m.instance.model_override is not None for m in left):
        return ()
    still = {model for member in left for model in member.models or ()}
    served = {model for member in serving for model in member.models or ()}
    return tuple(sorted(served - still))


def named(names: Collection[str]) -> str:
    """List names for a sentence, the first five of them."""
    first = ", ".join(sorted(names)[:_NAMED_AT_MOST])
    more = len(names) - _NAMED_AT_MOST
    return f"{first} and {more} more" if more > 0 else first
