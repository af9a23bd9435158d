"""Who may be chosen at all: alive, willing, and serving what is asked for.

Filters run in a fixed order, and each Instance is dropped by the first one that objects,
so an error can say which filter left nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cacheroute.core.pool_member import Member

Liveness = Callable[[Member], str]

OTHER_MODELS = "other models"
"""Why an Instance was skipped that serves models, but not the one asked for."""

_NAMED_AT_MOST = 4


@dataclass(frozen=True, slots=True)
class Sifted:
    """Who is left, and who went why."""

    kept: list[Member]
    skipped: dict[str, list[str]]
    """Instance ids by the reason that dropped them, in the order of the filters."""
    rested: bool = False
    """Whether only Instances that were to rest are left, so that they are used anyway."""


def _objection(member: Member, liveness: str, endpoint: str, model: str | None) -> str | None:
    if liveness != "alive":
        return liveness
    if member.draining:
        return "draining"
    if member.weight <= 0:
        return "weight 0"
    instance = member.instance
    if not instance.serves(endpoint):
        return "other endpoints"
    if model is not None and instance.model_override is None:
        models = member.models
        if models is not None and model not in models:
            return OTHER_MODELS
    return None


def sift(
    members: Iterable[Member],
    *,
    endpoint: str,
    model: str | None,
    liveness: Liveness,
    is_resting: Callable[[Member], bool],
) -> Sifted:
    """Drop whoever cannot serve; Instances at rest only while others are left."""
    kept: list[Member] = []
    resting: list[Member] = []
    skipped: dict[str, list[str]] = {}
    for member in members:
        objection = _objection(member, liveness(member), endpoint, model)
        if objection is not None:
            skipped.setdefault(objection, []).append(member.instance.instance_id)
        elif is_resting(member):
            resting.append(member)
        else:
            kept.append(member)
    if resting and not kept:
        # A fleet that is all at rest is better tried than refused: fail open.
        return Sifted(resting, skipped, rested=True)
    if resting:
        skipped["resting after failures"] = [m.instance.instance_id for m in resting]
    return Sifted(kept, skipped)


def describe(skipped: dict[str, list[str]]) -> str:
    """Write who was skipped why: `2 stale (i-1, i-4), 1 draining (i-2)`."""
    parts = []
    for reason, ids in skipped.items():
        names = ", ".join(ids[:_NAMED_AT_MOST])
        more = f", and {len(ids) - _NAMED_AT_MOST} more" if len(ids) > _NAMED_AT_MOST else ""
        parts.append(f"{len(ids)} {reason} ({names}{more})")
    return ", ".join(parts)
