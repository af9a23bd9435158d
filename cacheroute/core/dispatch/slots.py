"""When one of an Instance's slots comes free, as far as that can be predicted.

A slot is taken until the request in it ends, decode included. An answer that is late is
expected to need as long again as it is late; the soonest of all counts.
"""

import bisect
import math
from collections.abc import Collection, Iterable

from cacheroute.core.dispatch.reservation import Reservation


class Slots:
    """The slots of one Instance; `taken` is kept by whoever hands them out."""

    __slots__ = ("_decode_ends_s", "_pending_end_s", "count", "taken")

    def __init__(self, count: int) -> None:
        self.count = count
        self.taken = 0
        self._decode_ends_s: list[float] | None = None
        self._pending_end_s = math.inf

    @property
    def is_full(self) -> bool:
        """Whether none is free."""
        return self.taken >= self.count

    def moved(self) -> None:
        """Some end is predicted anew, or somebody has come or gone."""
        self._decode_ends_s = None

    def next_in_s(
        self,
        now_s: float,
        head_left_s: float,
        pending: Iterable[Reservation],
        decoding: Collection[Reservation],
    ) -> float:
        """Return how long until a slot is free; 0 while one is.

        Those that are pending end no sooner than the prefill which is under way.
        """
        if self.taken < self.count:
            return 0.0
        ends_s = self._decode_ends_s
        if ends_s is None:  # worked out once per change, and looked up by the second
            ends_s = sorted(one.forward_end_s for one in decoding if one.holds_slot)
            self._decode_ends_s = ends_s
            self._pending_end_s = min(
                (one.forward_end_s for one in pending if one.holds_slot), default=math.inf
            )
        soonest_s = max(self._pending_end_s - now_s, head_left_s)
        index = bisect.bisect_left(ends_s, now_s)
        if index < len(ends_s):
            soonest_s = min(soonest_s, ends_s[index] - now_s)
        if index:
            soonest_s = min(soonest_s, now_s - ends_s[index - 1])
        return soonest_s
