"""The summary of the pool, as its owner gives it."""

from cacheroute.core.rules import PoolRules
from cacheroute.planes.control_owner import ControlOwner
from cacheroute.planes.summary import pool_summary, ttl_s
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.planes.control_parts import Owner


def test_the_summary_is_as_of_now() -> None:
    owner = Owner()
    owner.register(an_instance())
    summary = pool_summary(owner)
    assert (summary["proxy_id"], summary["ttl_s"]) == ("hp_127.0.0.1:8001", 30)
    assert summary["generated_at"] == owner.clock.instant.wall_s
    assert summary["instances"]["alive"] == 1  # type: ignore[index]
    assert summary["load"]["capacity"] == 8  # type: ignore[index]


def test_a_short_time_to_live_is_a_whole_second_on_the_wire() -> None:
    owner: ControlOwner = Owner(PoolRules(ttl_s=0.5))
    assert ttl_s(owner) == 1
