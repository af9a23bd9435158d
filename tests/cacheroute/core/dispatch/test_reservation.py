from tests.cacheroute.core.dispatch.dispatch_builders import a_reservation


def test_the_times_follow_each_other() -> None:
    reservation = a_reservation(service_ms=200.0, decode_ms=3000.0)
    reservation.start_s, reservation.end_s = 1.0, 1.2
    assert reservation.prefill_start_s == 1.0
    assert reservation.first_token_s == 1.2
    assert reservation.forward_end_s == 4.2
    assert reservation.duration_s == 0.2


def test_it_begins_pending_and_as_it_was_reserved() -> None:
    reservation = a_reservation(reserved_s=7.0)
    assert (reservation.stage, reservation.slot_ready_s, reservation.generation) == (
        "pending", 7.0, 0,
    )  # fmt: skip
