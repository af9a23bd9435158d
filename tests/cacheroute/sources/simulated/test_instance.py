"""One simulated Instance: its queues add up, and who is silent reports nothing."""

from random import Random

from cacheroute.core.routing.weights import Weights
from cacheroute.sources.simulated.instance import SLOTS, SimInstance, Work


def an_instance() -> SimInstance:
    return SimInstance(
        id="a", host="h", port=1, models=["m"], speed=1.0, chance=Random(1), seen_s=0.0
    )


def test_every_request_on_it_stands_in_one_place() -> None:
    instance = an_instance()
    instance.work = [
        *(Work(prepares_until_s=5.0, prefills_until_s=6.0, ends_s=9.0) for _ in range(3)),
        *(Work(prepares_until_s=0.0, prefills_until_s=2.0, ends_s=3.0) for _ in range(4)),
        *(Work(prepares_until_s=0.0, prefills_until_s=0.5, ends_s=4.0) for _ in range(6)),
    ]
    it = instance.pressure(1.0)

    assert (it.active_prepare, it.prepare_queue_depth) == (2, 1)
    assert (it.active_ready, it.ready_queue_depth) == (SLOTS, 2)
    assert (it.pending_prefill_count, it.active_decode_count) == (4, 4)
    assert (it.prefill_free_in_ms, it.next_slot_ready_in_ms) == (1_000.0, 2_000.0)
    assert it.predicted_total_backlog_ms == 2_000.0
    assert instance.cost(1.0, Weights().as_mapping()) > instance.inflight
    assert instance.step(3.5, 0.5) == 4


def test_who_is_silent_becomes_stale_and_then_dead_and_says_nothing_meanwhile() -> None:
    instance = an_instance()
    instance.trouble, instance.trouble_until_s = "silent", 1e9
    for second in range(1, 200):
        instance.step(float(second), 1.0)

    assert [instance.state(at_s, 30.0) for at_s in (30.0, 31.0, 90.0, 91.0)] == [
        "alive", "stale", "stale", "dead",
    ]  # fmt: skip
    assert (instance.seen_s, instance.reported_s, instance.admission_state) == (0.0, None, None)
    assert not instance.takes_work(40.0, 30.0)


def test_measures_stay_within_what_they_are_measures_of() -> None:
    instance = an_instance()
    for second in range(1, 300):
        instance.trouble = "hot" if second % 50 < 25 else None
        instance.step(float(second), 1.0)
        assert 0 <= instance.gpu_util <= 100
        assert 0 <= instance.cpu_util <= 100
        assert instance.memory_used_mb <= 256_000
    assert instance.rests_s(1.0) == 0.0
