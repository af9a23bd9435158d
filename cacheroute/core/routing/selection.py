"""What a strategy can answer: this one, none, or not yet."""

from collections.abc import Mapping
from dataclasses import dataclass

from cacheroute.core.pool_member import Member


@dataclass(slots=True)
class Chosen:
    """This Instance, and what it was weighed against."""

    member: Member
    cost: float | None = None
    """What it costs by the strategy's own measure; None when the strategy does not weigh."""
    runner_up: Member | None = None
    """The next best; None when there was no other or nobody looked."""
    runner_up_cost: float | None = None
    considered: int = 1
    """How many could have been chosen."""
    skipped: Mapping[str, list[str]] | None = None
    """Ids of those that could not, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoInstance:
    """Nobody can take the request, and why."""

    reason: str
    """A sentence with the Instances and their states in it."""
    code: str = "no_instance"
    """`no_instance` or `model_not_found`."""
    retry_after_s: float | None = None
    """When asking again may help, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Not yet: keep the request here until something changes."""

    reason: str


Selection = Chosen | NoInstance | Hold
