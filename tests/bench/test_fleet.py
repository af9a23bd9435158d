"""How much is weighed for one decision as a fleet grows: counts, so that any machine may look."""

import pytest

from tests.bench.fleet import STATES, Fleet, State

DECISIONS = 300
MOVING: tuple[State, ...] = ("busy", "late", "churn")


def weighed(instances: int, state: State, *weights: float) -> float:
    """Boards weighed per decision, once the list stands and time goes on."""
    fleet = Fleet(instances, state, weights=weights or (1.0,))
    fleet.tell(fleet.go_on(fleet.choose()))
    fleet.choose()
    before = fleet.weighed
    for _ in range(DECISIONS):
        fleet.tell(fleet.go_on(fleet.choose()))
    return (fleet.weighed - before) / DECISIONS


@pytest.mark.parametrize("state", STATES)
def test_a_decision_weighs_hardly_more_of_a_thousand_than_of_a_hundred(state: State) -> None:
    few, many = weighed(100, state), weighed(1_000, state)
    assert many <= 1.3 * few + 1, f"{few} boards weighed of 100, {many} of 1,000"
    assert many <= 5


@pytest.mark.parametrize("state", MOVING)
@pytest.mark.parametrize("weights", [(1.0, 3.0, 1.5), (1.0, 1.0, 1.0, 0.01)])
def test_so_it_is_where_weights_differ(state: State, weights: tuple[float, ...]) -> None:
    few, many = weighed(100, state, *weights), weighed(1_000, state, *weights)
    assert many <= 1.3 * few + 1, f"{few} boards weighed of 100, {many} of 1,000"
    assert many <= 5


@pytest.mark.parametrize("state", MOVING)
def test_a_fleet_at_work_is_weighed_at_all(state: State) -> None:
    assert weighed(100, state) >= 0.5
