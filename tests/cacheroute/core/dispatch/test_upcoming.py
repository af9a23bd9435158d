"""What is on its way to an Instance counts before it is there, by the rules of its queues."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.dispatch.approach import Approach
from cacheroute.core.dispatch.links import LinkKey, LinkReservation, Links
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.upcoming import Coming, Upcoming

KEY: LinkKey = ("i-1", "kdn:9101")


class Road:
    """One Instance, its link, and requests that are chosen for it."""

    def __init__(self, **rules: Any) -> None:
        self.upcoming = Upcoming(QueueRules(**rules))
        self.links = Links()

    def kv(self, transfer_ms: float, service_ms: float = 100, now_s: float = 0.0) -> Coming:
        """A request whose KV is sent over the link."""
        link = self.links.reserve(KEY, now_s, transfer_ms)
        coming = self.upcoming.add(
            due_mono_s=link.end_s,
            work_ms=transfer_ms,
            service_ms=service_ms,
            is_text=False,
            transfer=link,
        )
        coming.begins(now_s)
        return coming

    def text(self, lookup_ms: float = 5, service_ms: float = 100, *, waits: bool = False) -> Coming:
        """A request whose text is looked up now, or when turnstile 1 has a place."""
        coming = self.upcoming.add(
            due_mono_s=lookup_ms / 1000, work_ms=lookup_ms, service_ms=service_ms, is_text=True
        )
        if not waits:
            coming.begins(0.0)
        return coming

    def approach(self, now_s: float = 0.0, free_in_ms: float = 0.0) -> Approach:
        return self.upcoming.approach(now_s, free_in_ms)

    def text_wait_ms(self, now_s: float = 0.0) -> float:
        """What one more text waits for the others."""
        passes = self.upcoming.passes(is_text=True)
        return self.approach(now_s).wait_ms(5, passes=passes)

    def kv_wait_ms(self, now_s: float = 0.0) -> float:
        """What one more with KV of 5 ms waits for the others."""
        return self.approach(now_s).wait_ms(5, passes=False)


def transfer_of(coming: Coming) -> LinkReservation:
    assert coming._transfer is not None
    return coming._transfer


# The order of release


def test_in_order_text_waits_for_kv_that_came_before_it_and_then_for_its_prefill() -> None:
    road = Road(release_policy="ordered")
    road.kv(2000)
    assert road.text_wait_ms() == pytest.approx(2000 + 100)
    road.text()
    assert road.text_wait_ms() == pytest.approx(2000 + 100 + 100)


def test_with_text_bypass_text_waits_for_no_kv_that_is_still_to_come() -> None:
    road = Road(release_policy="text_bypass")
    road.kv(2000)
    assert road.text_wait_ms() == 0
    assert road.kv_wait_ms() == pytest.approx(2000 + 100)


def test_with_text_bypass_kv_still_waits_for_all_that_came_before_it() -> None:
    road = Road(release_policy="text_bypass")
    road.kv(2000)
    road.text(lookup_ms=3000, service_ms=50)
    # The first has been read when the text is ready, and only then the third may go.
    assert road.kv_wait_ms() == pytest.approx(3000 + 50)


def test_in_order_a_long_text_holds_nobody_up_who_was_there_before_it() -> None:
    for policy, delay_ms in (("ordered", 0), ("text_bypass", 1000 - 300 + 5)):
        road = Road(release_policy=policy)
        road.kv(300)
        passes = road.upcoming.passes(is_text=True)
        assert road.approach().delay_ms(5, 1000, passes=passes) == pytest.approx(delay_ms)


# The first turnstile


def test_one_more_than_may_be_prepared_starts_when_the_first_is_ready() -> None:
    road = Road(release_policy="text_bypass", prepare_concurrency=2)
    road.kv(300)
    assert road.approach().place_in_ms == 0
    road.kv(500)
    assert road.approach().place_in_ms == pytest.approx(300)
    road.text(lookup_ms=5, service_ms=40, waits=True)
    # The text comes in at 300 and leaves at 305, long before the second KV at 800.
    assert road.approach().place_in_ms == pytest.approx(305)


def test_text_behind_eight_transfers_is_ready_when_it_has_had_a_place_for_its_lookup() -> None:
    road = Road(release_policy="text_bypass")
    for _ in range(8):
        road.kv(1000, service_ms=10)
    assert road.approach().place_in_ms == pytest.approx(1000)
    road.text(lookup_ms=5, service_ms=40, waits=True)
    approach = road.approach()
    assert approach.place_in_ms == pytest.approx(1005)
    # One more text: first the KV is read, from 1000 to 1010, and then the text before it.
    assert approach.wait_ms(1010, passes=True) == pytest.approx(1010 + 40)


def test_who_is_prepared_takes_no_place_and_is_ready() -> None:
    road = Road(release_policy="ordered", prepare_concurrency=1)
    first = road.kv(3000)
    second = road.kv(1000)
    second.prepared(70, passes=False)
    assert road.approach().place_in_ms == pytest.approx(3000)
    road.upcoming.remove(first)
    assert road.approach().place_in_ms == 0
    assert road.kv_wait_ms() == pytest.approx(70), "as it is known to need by now"


def test_kv_that_turned_out_to_be_text_passes_as_text_does() -> None:
    road = Road(release_policy="text_bypass")
    road.kv(3000)
    road.kv(1000).prepared(700, passes=road.upcoming.passes(is_text=True))
    assert road.text_wait_ms() == pytest.approx(700)


# What is late


def test_a_transfer_moves_those_behind_it_wherever_it_ends() -> None:
    road = Road()
    first = road.kv(1000)
    road.kv(1000)
    road.links.done(transfer_of(first), 0.2)
    first.prepared(100, passes=False)
    assert road.text_wait_ms(0.2) == pytest.approx(1000 + 100)


def test_a_transfer_that_is_late_needs_as_long_again_and_moves_those_behind_it() -> None:
    road = Road()
    road.kv(1000)
    road.kv(500)
    assert road.text_wait_ms(1.4) == pytest.approx(400 + 500 + 100)


def test_a_lookup_that_is_late_needs_as_long_again() -> None:
    road = Road()
    road.text(lookup_ms=5, service_ms=10)
    assert road.text_wait_ms(0.105) == pytest.approx(100 + 10)


def test_one_that_waits_at_the_turnstile_is_not_late_but_still_to_start() -> None:
    road = Road(release_policy="text_bypass", prepare_concurrency=1)
    road.kv(1000)
    road.text(lookup_ms=5, waits=True)
    assert road.approach(0.5).place_in_ms == pytest.approx(505)


def test_one_that_started_late_is_due_when_its_work_is_done() -> None:
    road = Road()
    text = road.text(lookup_ms=5, service_ms=0, waits=True)
    text.begins(2.0)
    assert road.text_wait_ms(2.001) == pytest.approx(4)


def test_equal_ones_are_told_apart_and_given_back_once() -> None:
    road = Road()
    first, second = road.text(), road.text()
    road.upcoming.remove(first)
    road.upcoming.remove(first)
    assert len(road.upcoming) == 1
    road.upcoming.remove(second)
    assert len(road.upcoming) == 0


@given(
    st.sampled_from(["ordered", "text_bypass"]),
    st.integers(1, 4),
    st.lists(
        st.tuples(
            st.sampled_from(["kv", "text", "waits", "ready"]), st.floats(0, 3000), st.floats(0, 500)
        ),
        max_size=25,
    ),
    st.floats(0, 5),
)
def test_whatever_is_on_the_way_one_more_waits_within_what_all_of_it_takes(
    policy: str, places: int, events: list[tuple[str, float, float]], now_s: float
) -> None:
    road = Road(release_policy=policy, prepare_concurrency=places)
    for kind, work_ms, service_ms in events:
        if kind == "kv":
            road.kv(work_ms, service_ms)
        elif kind == "ready":
            road.text(work_ms, service_ms).prepared(service_ms, passes=policy == "text_bypass")
        else:
            road.text(work_ms, service_ms, waits=kind == "waits")
    approach = road.approach(now_s)
    waits_ms = road.text_wait_ms(now_s), road.kv_wait_ms(now_s)
    assert 0 <= waits_ms[0] <= waits_ms[1] + 1e-6
    all_ms = sum(work_ms + service_ms for _, work_ms, service_ms in events)
    # What is late needs as long again, for each transfer that is predicted by it.
    assert waits_ms[1] <= all_ms + 1000 * now_s + 5 + 1e-6
    if sum(kind != "ready" for kind, _, _ in events) < places:
        assert approach.place_in_ms == 0
