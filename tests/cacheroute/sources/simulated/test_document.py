"""The simulated pool as a document: whole, and with scores that are the sum of their parts."""

import math

from cacheroute.console.look import Look
from cacheroute.sources.simulated.document import document
from cacheroute.sources.simulated.fleet import Fleet
from cacheroute.wire.console import Columns
from cacheroute.wire.console_columns import spread


def a_fleet(seconds: float = 45.0) -> Fleet:
    fleet = Fleet(instances=25, seed=2)
    fleet.advance(seconds)
    return fleet


def test_every_score_is_the_sum_of_its_parts() -> None:
    look = Look(snapshot=document(a_fleet(), wall_s=1e9, run="r"), url="demo")

    for row in look.scores:
        assert row.score is not None
        parts = sum(term.weighted for term in row.terms if term.weighted is not None)
        assert math.isclose(row.score, parts)


def test_every_column_has_a_value_for_each_instance_or_one_for_all() -> None:
    snapshot = document(a_fleet(), wall_s=1e9, run="r")

    for name in Columns.__struct_fields__:
        column = getattr(snapshot.instances, name)
        assert len(spread(column, 25)) == 25
        assert not isinstance(column, list) or len(column) == 25


def test_what_no_agent_reports_is_unknown() -> None:
    rows = {
        r.id: r for r in Look(snapshot=document(a_fleet(), wall_s=1e9, run="r"), url="d").resources
    }

    assert rows["inst-9011"].cpu_util is None
    assert rows["inst-9011"].report_age_s is None
    assert rows["inst-9001"].cpu_util is not None


def test_the_figures_of_the_pool_are_of_those_that_are_alive() -> None:
    snapshot = document(a_fleet(), wall_s=1e9, run="r")
    look = Look(snapshot=snapshot, url="d")
    alive = [row for row in look.instances if row.state == "alive"]

    assert snapshot.pool.inflight == sum(row.inflight or 0 for row in alive)
    assert snapshot.pool.accepting is not None
    assert f"Of {len(alive)} alive" in (snapshot.pool.admission_reason or "")
    assert snapshot.totals is not None
    assert len(snapshot.totals.ttft_counts) == len(snapshot.totals.ttft_bounds_s) + 1
