"""What a simulated Proxy tells of its requests: rooms in order, and no more kept than is read."""

from random import Random

from cacheroute.sources.simulated.fleet import Fleet
from cacheroute.sources.simulated.stories import KEPT_DECISIONS, KEPT_TRACES, Stories


def test_the_rooms_of_a_request_follow_each_other_from_its_arrival_to_its_end() -> None:
    fleet = Fleet(instances=20, seed=4)
    fleet.advance(120.0)

    for row in fleet.stories.traces:
        assert row.rooms[0].start_ms == 0.0
        assert row.rooms[-1].end_ms == row.e2e_ms
        for one, following in zip(row.rooms, row.rooms[1:], strict=False):
            assert one.start_ms <= one.end_ms == following.start_ms
        assert row.has_story == (row.path is not None) == (row.predicted_ttft_ms is not None)


def test_a_decision_names_the_lesser_cost_first_and_says_so() -> None:
    fleet = Fleet(instances=20, seed=4)
    fleet.advance(60.0)

    for one in fleet.stories.decisions:
        assert one.cost is not None
        assert one.runner_up_cost is None or one.cost <= one.runner_up_cost
        assert (one.instance_id or "nobody") in one.reason
        assert f"{one.cost:g}" in one.reason


def test_only_the_last_are_kept_and_all_are_counted() -> None:
    fleet = Fleet(instances=60, seed=4)
    fleet.advance(400.0)
    told = fleet.stories

    assert (len(told.decisions), len(told.traces)) == (KEPT_DECISIONS, KEPT_TRACES)
    assert told.decided > KEPT_DECISIONS
    assert told.ended > KEPT_TRACES
    assert sum(told.ttft_counts) == told.ended
    assert sum(told.by_path.values()) < told.ended


def test_a_request_that_nobody_takes_is_refused_in_words() -> None:
    stories = Stories(Random(1))
    stories.refuse(3.0, 5)

    [one] = stories.decisions
    assert (one.instance_id, one.skipped) == (None, {"not_alive": 5})
