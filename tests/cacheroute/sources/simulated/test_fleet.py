"""Traffic comes in waves, Instances fail and come back, and a long absence costs nothing."""

from cacheroute.sources.simulated.fleet import CATCH_UP_S, STEP_S, TTL_S, WAVE_S, Fleet


def inflight(fleet: Fleet) -> int:
    return sum(instance.inflight for instance in fleet.instances)


def test_the_tide_of_requests_rises_and_falls() -> None:
    fleet = Fleet(instances=40, seed=1)
    seen = []
    for quarter in range(1, 5):
        fleet.advance(WAVE_S * quarter / 4)
        seen.append(inflight(fleet))

    assert seen[0] > 2 * seen[2] > 0


def test_some_are_in_trouble_and_come_back() -> None:
    fleet = Fleet(instances=60, seed=3)
    states: set[str] = set()
    troubles: set[str | None] = set()
    for second in range(1, 400):
        fleet.advance(float(second))
        states |= {each.state(fleet.now_s, TTL_S) for each in fleet.instances}
        troubles |= {each.trouble for each in fleet.instances}

    assert states == {"alive", "stale", "dead"}
    assert troubles == {None, "silent", "resting", "drained", "hot", "unmeasured"}
    assert sum(each.state(fleet.now_s, TTL_S) == "alive" for each in fleet.instances) > 40


def test_a_first_look_shows_what_there_is_to_see() -> None:
    fleet = Fleet(instances=12, seed=7)
    fleet.advance(20.0)
    fleet.begin()
    fleet.advance(21.0)

    states = [each.state(fleet.now_s, TTL_S) for each in fleet.instances]
    assert {"alive", "stale", "dead"} <= set(states)
    assert any(each.is_draining for each in fleet.instances)
    assert any(each.reported_s is None for each in fleet.instances)


def test_nobody_in_trouble_is_chosen() -> None:
    fleet = Fleet(instances=30, seed=5)
    for second in range(1, 200):
        before = {each.id: each.takes_work(fleet.now_s, TTL_S) for each in fleet.instances}
        decided = fleet.stories.decided
        fleet.advance(float(second))
        news = [one for one in fleet.stories.decisions if one.seq > decided]
        assert all(one.instance_id is not None for one in news)
        assert before


def test_who_was_away_for_hours_need_not_wait_for_them() -> None:
    fleet = Fleet(instances=2, seed=1)
    fleet.advance(100_000.0)

    assert fleet.now_s == 100_000.0
    assert fleet.changes <= CATCH_UP_S / STEP_S + 1


def test_time_never_goes_back() -> None:
    fleet = Fleet(instances=2, seed=1)
    fleet.advance(10.0)
    fleet.advance(5.0)

    assert fleet.now_s == 10.0


def test_without_anybody_to_take_it_a_request_is_refused() -> None:
    fleet = Fleet(instances=2, seed=1)
    for instance in fleet.instances:
        instance.trouble, instance.trouble_until_s = "drained", 1e9
    fleet.advance(30.0)

    assert fleet.stories.decided > 0
    assert {one.instance_id for one in fleet.stories.decisions} == {None}
