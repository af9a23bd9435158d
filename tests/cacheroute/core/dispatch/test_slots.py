"""When the next slot is free."""

from cacheroute.core.dispatch.reservation import Reservation
from cacheroute.core.dispatch.slots import Slots
from tests.cacheroute.core.dispatch.dispatch_builders import a_reservation


def ending(at_s: float, *, holds_slot: bool = True) -> Reservation:
    reservation = a_reservation(decode_ms=0.0, holds_slot=holds_slot)
    reservation.end_s = at_s
    return reservation


def full(count: int) -> Slots:
    slots = Slots(count)
    slots.taken = count
    return slots


def test_a_free_slot_is_ready_now() -> None:
    slots = Slots(2)
    slots.taken = 1
    assert not slots.is_full
    assert slots.next_in_s(0.0, 0.0, [], [ending(9.0)]) == 0.0


def test_the_soonest_end_counts_while_all_are_taken() -> None:
    assert full(2).next_in_s(1.0, 0.0, [], [ending(9.0), ending(4.0)]) == 3.0


def test_one_that_is_late_is_expected_to_need_as_long_again_and_the_soonest_counts() -> None:
    assert full(1).next_in_s(6.0, 0.0, [], [ending(4.0)]) == 2.0
    assert full(2).next_in_s(6.0, 0.0, [], [ending(4.0), ending(7.0)]) == 1.0


def test_who_is_pending_ends_no_sooner_than_the_prefill_under_way() -> None:
    assert full(1).next_in_s(6.0, 2.5, [ending(4.0)], []) == 2.5
    assert full(1).next_in_s(0.0, 2.5, [ending(4.0)], []) == 4.0


def test_who_holds_no_slot_frees_none() -> None:
    decoding = [ending(4.0), ending(1.0, holds_slot=False)]
    assert full(1).next_in_s(0.0, 0.0, [ending(2.0, holds_slot=False)], decoding) == 4.0


def test_ends_are_looked_at_again_after_a_change() -> None:
    slots, decoding = full(1), [ending(4.0)]
    assert slots.next_in_s(0.0, 0.0, [], decoding) == 4.0
    decoding[0].end_s = 3.0
    slots.moved()
    assert slots.next_in_s(0.0, 0.0, [], decoding) == 3.0
