"""What is predicted to happen at one Instance: prefills in turn, decodes side by side.

| Quantity      | Formula                                                                  |
|---------------|--------------------------------------------------------------------------|
| prefill start | of the first: now; of another: the first token of the one before it       |
| first token   | prefill start + service                                                  |
| forward end   | first token + decode                                                     |
| prefill free  | what the first needs still + the services behind it                      |
| needs still   | its predicted first token - now; once that is past, now - first token,   |
|               | less twice what the step may have read of those behind it meanwhile      |
| slot ready    | now while a slot is free, else the soonest forward end                   |
| backlog, wait | the longer of prefill free and slot ready                                |

What happens corrects it: with each first token, and with each request that goes before its
own, those behind are predicted anew. Requests that decode keep their ends.
"""

import math

from cacheroute.core.dispatch.busy import BusyPeriod, BusyTally
from cacheroute.core.dispatch.reservation import Reservation
from cacheroute.core.dispatch.slots import Slots
from cacheroute.core.dispatch.succession import Succession
from cacheroute.core.pressure import Course


class Timeline:
    """The requests that are at one Instance; every method may be handed the present only."""

    __slots__ = ("_decoding", "_prefills", "_seq", "_tally", "_unseen", "slots")

    def __init__(self, slots: int) -> None:
        self.slots = Slots(slots)
        self._prefills: Succession[Reservation] = Succession()
        self._decoding: set[Reservation] = set()
        self._unseen = 0
        """How many are pending whose first token cannot be seen."""
        self._seq = 0
        self._tally = BusyTally()

    # What happens

    def reserve(
        self,
        now_mono_s: float,
        service_ms: float,
        decode_ms: float,
        *,
        observable: bool = True,
        holds_slot: bool = True,
        path: str = "text",
        model_ms: float | None = None,
        step_ms: float = 0.0,
    ) -> Reservation:
        """Count a request that is sent now; its times are predictions and may move.

        `step_ms` is what one step of the engine takes at most: so much of those behind it may
        be read together with the first.
        """
        self._catch_up(now_mono_s)
        self._seq += 1
        reservation = Reservation(
            seq=self._seq,
            reserved_s=now_mono_s,
            service_ms=service_ms,
            decode_ms=decode_ms,
            model_ms=service_ms if model_ms is None else model_ms,
            observable=observable,
            holds_slot=holds_slot,
            path=path,
        )
        slots, prefills = self.slots, self._prefills
        if holds_slot:
            if slots.is_full:
                reservation.slot_ready_s += self._next_slot_in_s(now_mono_s)
            slots.taken += 1
            slots.moved()
        if not prefills:
            self._tally.begin(now_mono_s)
            prefills.step_s = step_ms / 1000  # no prediction may move by somebody's coming
        if not observable:
            self._unseen += 1
        prefills.add(reservation, now_mono_s)
        return reservation

    def first_token(self, reservation: Reservation, now_mono_s: float) -> BusyPeriod | None:
        """A request got its first token; nothing happens to one that is past it.

        Returns what its stretch of prefills teaches, if this ends the stretch.
        """
        self._catch_up(now_mono_s)
        if reservation.stage != "pending":
            return None
        prefills, tally = self._prefills, self._tally
        in_turn = prefills.head is reservation
        self._leave_prefills(reservation, now_mono_s, is_done=True)
        reservation.stage = "decode"
        reservation.end_s = now_mono_s
        self._decoding.add(reservation)
        tally.add(reservation.service_ms, reservation.model_ms, reservation.path)
        if not prefills:
            return tally.close(now_mono_s)
        if in_turn and tally.is_long:
            period = tally.close(now_mono_s)
            tally.begin(now_mono_s)
            return period
        return None

    def end(self, reservation: Reservation, now_mono_s: float) -> None:
        """A request is over or was given up, at whatever stage; a second call does nothing."""
        self._catch_up(now_mono_s)
        stage = reservation.stage
        if stage == "ended":
            return
        if stage == "pending":
            self._leave_prefills(reservation, now_mono_s, is_done=False)
            self._tally.spoil()
        else:
            self._decoding.remove(reservation)
        reservation.stage = "ended"
        if reservation.holds_slot:
            self.slots.taken -= 1
            self.slots.moved()

    # What it means

    @property
    def pending_count(self) -> int:
        """Requests whose first token is still to come, as of the last look at the time."""
        return len(self._prefills)

    @property
    def decode_count(self) -> int:
        """Requests that are past their first token, as of the last look at the time."""
        return len(self._decoding)

    @property
    def is_ticking(self) -> bool:
        """Whether its figures change by the mere passing of time."""
        return bool(self._prefills) or self.slots.is_full

    def course(self, now_mono_s: float) -> Course | None:
        """Tell how the wait goes on from now; None when time alone does not change it.

        It never changes faster than time does. So where it is the prefills' own, and they grow
        as fast as that because a first token is overdue, it stays theirs.
        """
        self._catch_up(now_mono_s)
        prefills = self._prefills
        head = prefills.head
        if head is None:
            return Course(now_mono_s, "falling", math.inf) if self.slots.is_full else None
        if not head.observable:  # it goes on to decode when it is due
            return Course(now_mono_s, "falling", head.end_s)
        is_rising = prefills.is_growing(now_mono_s) and (
            not self.slots.is_full
            or prefills.busy_for_s(now_mono_s) >= self._next_slot_in_s(now_mono_s)
        )
        return Course(now_mono_s, "rising" if is_rising else "falling", math.inf)

    def prefill_free_in_ms(self, now_mono_s: float) -> float:
        """Return how long the prompts that are there will take; 0 when there is none."""
        self._catch_up(now_mono_s)
        return self._prefills.busy_for_s(now_mono_s) * 1000

    def next_slot_ready_in_ms(self, now_mono_s: float) -> float:
        """Return how long until a slot is free; 0 while one is."""
        self._catch_up(now_mono_s)
        return self._next_slot_in_s(now_mono_s) * 1000

    def wait_ms(self, now_mono_s: float) -> float:
        """Return how long one more request would wait for its prefill: the whole backlog."""
        self._catch_up(now_mono_s)
        busy_for_s = self._prefills.busy_for_s(now_mono_s)
        if self.slots.is_full:
            busy_for_s = max(busy_for_s, self._next_slot_in_s(now_mono_s))
        return busy_for_s * 1000

    # The inside

    def _catch_up(self, now_mono_s: float) -> None:
        """Let those go on to decode whose first token cannot be seen, when it is due."""
        prefills = self._prefills
        while self._unseen:
            head = prefills.head
            if head is None or head.observable or head.end_s > now_mono_s:
                return
            prefills.pass_head()
            self._unseen -= 1
            head.stage = "decode"
            self._decoding.add(head)
            self._tally.spoil()
            self.slots.moved()

    def _next_slot_in_s(self, now_mono_s: float) -> float:
        prefills = self._prefills
        return self.slots.next_in_s(
            now_mono_s, prefills.head_left_s(now_mono_s), prefills, self._decoding
        )

    def _leave_prefills(
        self, reservation: Reservation, now_mono_s: float, *, is_done: bool
    ) -> None:
        self._prefills.remove(reservation, now_mono_s, is_done=is_done)
        if not reservation.observable:
            self._unseen -= 1
        self.slots.moved()
