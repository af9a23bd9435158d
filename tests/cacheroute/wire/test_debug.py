"""Debug pages as they are read."""

import pytest
from pydantic import ValidationError

from cacheroute.core.routing.decision import Decision
from cacheroute.wire.debug import DecisionRow, HealthReply, InstanceLoadRow, ReadyReply, StatusReply


def test_the_status_of_another_proxy_is_read_too() -> None:
    page = {"ok": True, "ttl_s": 30, "alive_instances": 1, "total_instances": 2}
    status = StatusReply.model_validate({**page, "expired_instances": 1, "sample_ids": ["i-1"]})
    assert (status.strategy, status.inflight) == (None, None)
    with pytest.raises(ValidationError):
        StatusReply.model_validate(page)


def test_queue_figures_are_unknown_where_nothing_queues() -> None:
    row = InstanceLoadRow(instance_id="i-1", is_alive=True)
    assert row.prepare_queue_depth is None
    assert row.least_load_score.total is None


def test_a_decision_row_has_what_a_decision_tells() -> None:
    decision = Decision(
        1, 0.0, "req-1", 1, "round_robin", None, "chat/completions", "i-1",
        None, None, None, 1, None, None,
    )  # fmt: skip
    assert set(decision.as_wire()) == set(DecisionRow.model_fields)


def test_health_is_read() -> None:
    assert HealthReply.model_validate({"ok": True, "ttl_s": 30}).ttl_s == 30
    assert ReadyReply.model_validate({"ok": False, "reason": "draining"}).reason == "draining"
