"""What became of a call on the pool, as values.

A full pool, an unknown id and a fingerprint that does not match are ordinary outcomes:
whoever asked decides what to say and what to log.
"""

from dataclasses import dataclass
from typing import Literal

from cacheroute.core.pool_member import Member

Liveness = Literal["alive", "stale", "dead"]

RefusalCode = Literal["pool_full", "address_taken", "static_instance", "meta_too_large"]

HeartbeatStatus = Literal[
    "ok",
    "unknown_instance",
    "capability_fingerprint_unknown",
    "capability_fingerprint_mismatch",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """An Instance is in the pool."""

    member: Member
    created: bool
    """Whether the id is new here."""
    changed: bool
    """Whether anything in its description differs from before."""
    gone: tuple[Member, ...] = ()
    """Members that had to make room: the earlier holder of the address, or one long dead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An Instance is not taken, and nothing has changed."""

    code: RefusalCode
    detail: str
    """One sentence with the values that decided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """What a heartbeat met."""

    status: HeartbeatStatus
    """Anything but `ok` leaves the liveness of the Instance as it was."""
    member: Member | None = None
    """None when the id is unknown."""
    expected_fingerprint: str | None = None
    """The fingerprint known here, where there was a problem with the one reported."""
    changed: bool = False
    """Whether it brought new capabilities, so that the description is worth saving again."""
    first_sight: bool = False
    """Whether this unknown id was not seen before: the one time to log it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a resource snapshot met."""

    member: Member | None
    """None when the id is unknown."""
    first_sight: bool = False
    """Whether this unknown id was not seen before: the one time to log it."""
    first_report: bool = False
    """Whether it is the first snapshot of this Member."""
