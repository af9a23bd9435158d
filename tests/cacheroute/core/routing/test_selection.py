import dataclasses

import pytest

from cacheroute.core.pool_member import Member
from cacheroute.core.routing.selection import Chosen, Hold, NoInstance
from tests.cacheroute.core.pool_builders import an_instance


def test_what_nobody_weighed_or_looked_for_is_not_known() -> None:
    chosen = Chosen(Member(an_instance()))
    assert (chosen.cost, chosen.runner_up, chosen.runner_up_cost) == (None, None, None)
    assert chosen.considered == 1
    assert chosen.skipped is None


def test_no_instance_is_a_503_of_ours_unless_it_says_otherwise() -> None:
    nobody = NoInstance(reason="No Instance is registered.")
    assert nobody.code == "no_instance"
    assert nobody.retry_after_s is None


@pytest.mark.parametrize("answer", [NoInstance(reason="nobody"), Hold(reason="not yet")])
def test_a_refusal_and_a_hold_do_not_change(answer: NoInstance | Hold) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.reason = "another"  # type: ignore[misc]
