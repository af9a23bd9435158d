"""What operators send to change a Proxy, and what they get back.

Every change can be asked about first (`dry_run`), tells how it was and how it is, and counts
what it does: requests that run there, Instances that are left.
"""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from cacheroute.wire.fields import InstanceId, NotNegative, Word

MAX_IDS = 1_000
"""Most Instances in one change."""
SHOWN_IDS = 20
"""Most ids of those left that a reply lists; `left_count` counts them all."""
MAX_REASON_CHARS = 200

_LEAST_WEIGHT, _MOST_WEIGHT = 1e-6, 1e6


def _usable(weight: float) -> float:
    if weight and not _LEAST_WEIGHT <= weight <= _MOST_WEIGHT:
        raise ValueError(f"a weight is 0, or from {_LEAST_WEIGHT:g} to {_MOST_WEIGHT:g}")
    return weight


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ChangeBody(_Body):
    """`POST /v1/admin/instance/undrain` and `/unregister`: all of these, or none."""

    instance_ids: list[InstanceId] = Field(min_length=1, max_length=MAX_IDS)
    dry_run: bool = False
    """Only tell what would happen."""
    force: bool = False
    """Do it even if nobody is left to serve."""


class DrainBody(ChangeBody):
    """`POST /v1/admin/instance/drain`."""

    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARS)] | None = None


class WeightBody(ChangeBody):
    """`POST /v1/admin/instance/weight`."""

    weight: Annotated[NotNegative, AfterValidator(_usable)] | None
    """0 takes no new work; null leaves it to the Instance again."""


class StrategyBody(_Body):
    """`POST /v1/admin/strategy`."""

    name: Word
    dry_run: bool = False


class ConditionRow(_Reply):
    """How one Instance is used; `state` is `gone` for one that is not in the pool."""

    state: str
    draining: bool
    reason: str | None = None
    weight: float | None = None
    own_weight: float | None = None
    """What it gave itself."""
    weight_fixed: bool = False
    """Whether `weight` is the operator's, whatever the Instance says of itself."""


class ChangeRow(_Reply):
    """One Instance of a change."""

    instance_id: str
    changed: bool
    before: ConditionRow
    after: ConditionRow
    inflight: int
    """Requests on it, those that wait for it included."""
    waiting: int
    """How many of them have not been sent to it yet."""


class ChangeReply(_Reply):
    """The answer to a change of Instances."""

    ok: bool
    verb: str
    dry_run: bool
    kept: bool
    """Whether it outlives the Proxy's process."""
    changes: list[ChangeRow]
    left_count: int
    """Instances that take new requests afterwards."""
    left_ids: list[str]
    """The first 20 of them."""
    left_resting: int
    """How many of them rest after failures at this moment."""
    left_without: list[str]
    """Models that nobody takes requests for any more."""


class StrategyRow(_Reply):
    """One strategy that can be had."""

    name: str
    aliases: list[str]
    summary: str


class StrategiesReply(_Reply):
    """`GET /v1/admin/strategy`."""

    ok: bool
    strategy: str
    """The one that routes."""
    configured: str
    """The one that a restart brings back."""
    known: list[StrategyRow]


class StrategyReply(_Reply):
    """The answer to a change of the strategy."""

    ok: bool
    dry_run: bool
    changed: bool
    before: str
    after: str
    inflight: int
    """Requests that run, and go on as they were placed."""
    left: int
    """Instances that the next requests are placed on."""
