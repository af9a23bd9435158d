"""What waits and what runs for one Instance: the figures of the queues before it.

A value to show and to weigh. Whoever has the queues keeps them behind `Queues`; an Instance
that nothing is queued for has none, and its figures are unknown rather than zero.
"""

from typing import Literal, NamedTuple, Protocol

import msgspec


# One for each of a thousand Instances, every second; a frozen dataclass takes five times as long.
class Pressure(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The queue figures of one Instance at one instant, by their published names."""

    prepare_queue_depth: int
    """Requests that wait to be prepared."""
    ready_queue_depth: int
    """Requests that are prepared, or need no preparing, and wait to be released."""
    active_prepare: int
    """Requests that are being prepared."""
    active_ready: int
    """Requests that are released to the Instance and have not ended."""
    pending_prefill_count: int
    """Requests at the Instance whose first token is still to come."""
    active_decode_count: int
    """Requests at the Instance that are past their first token."""
    next_slot_ready_in_ms: float
    """Until one more request can be released, as predicted; 0 while a slot is free."""
    prefill_free_in_ms: float
    """Until the prompts that are at the Instance will have been read, as predicted."""
    predicted_total_backlog_ms: float
    """The longer of the two: what a new request would wait."""

    def as_mapping(self) -> dict[str, float]:
        """Return the figures by name, in their published order."""
        return {name: getattr(self, name) for name in FIGURES}


FIGURES = Pressure.__struct_fields__
"""The names of all nine."""

Trend = Literal["falling", "rising"]
"""What time does to a backlog: at most it wears it off, second by second; or it adds to it
exactly so much."""


class Course(NamedTuple):
    """How figures that move by themselves go on, if nothing happens."""

    at_s: float
    """From when on, on the monotonic clock."""
    trend: Trend
    until_s: float
    """When a count changes as well; infinite if none does."""


class Queues(Protocol):
    """Whatever keeps the queues of one Instance.

    The counts can be read on their own because a selection weighs them for every Instance
    that is at work, and making a value of each would cost more than the choice.
    """

    @property
    def prepare_queue_depth(self) -> int:
        """See `Pressure`, as for the other counts."""
        ...

    @property
    def ready_queue_depth(self) -> int: ...

    @property
    def active_prepare(self) -> int: ...

    @property
    def active_ready(self) -> int: ...

    @property
    def pending_prefill_count(self) -> int: ...

    @property
    def active_decode_count(self) -> int: ...

    @property
    def is_full(self) -> bool:
        """Whether not even one more request may wait here."""
        ...

    @property
    def is_ticking(self) -> bool:
        """Whether its figures change by the mere passing of time."""
        ...

    def course(self, now_mono_s: float) -> Course | None:
        """Tell how the figures go on from now; None when time alone does not change them."""
        ...

    def wait_ms(self, now_mono_s: float) -> float:
        """Return `predicted_total_backlog_ms`, and bring the counts up to this moment."""
        ...

    def pressure(self, now_mono_s: float) -> Pressure:
        """Return all figures as they are now."""
        ...
