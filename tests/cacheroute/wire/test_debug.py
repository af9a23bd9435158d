"""Debug pages as they are read."""

import pytest
from pydantic import ValidationError

from cacheroute.core.clock import Instant
from cacheroute.core.scheduler_state import SchedulerState
from cacheroute.wire.debug import (
    HealthReply,
    InstanceLoadRow,
    PredictionsReply,
    ReadyReply,
    SchedulerReply,
    StatusReply,
)


def test_the_status_of_another_proxy_is_read_too() -> None:
    page = {"ok": True, "ttl_s": 30, "alive_instances": 1, "total_instances": 2}
    status = StatusReply.model_validate({**page, "expired_instances": 1, "sample_ids": ["i-1"]})
    assert (status.strategy, status.inflight) == (None, None)
    assert (status.knowledge, status.prediction_error) == (None, None)
    with pytest.raises(ValidationError):
        StatusReply.model_validate(page)


def test_the_scheduler_page_has_a_place_for_all_that_is_known() -> None:
    page = SchedulerState(since=Instant(0.0, 0.0)).as_wire(Instant(1.0, 1.0))
    assert {"ok", *page} == set(SchedulerReply.model_fields)
    assert SchedulerReply.model_validate({"ok": True, **page}).state == "off"


def test_predictions_of_nobody_are_read() -> None:
    page = PredictionsReply.model_validate({"ok": True, "generated_at": 1.0, "errors": {}})
    assert (page.errors.count, page.errors.p50_ratio, page.instances) == (0, None, [])


def test_queue_figures_are_unknown_where_nothing_queues() -> None:
    row = InstanceLoadRow(instance_id="i-1", is_alive=True)
    assert row.prepare_queue_depth is None
    assert row.least_load_score.total is None


def test_health_is_read() -> None:
    assert HealthReply.model_validate({"ok": True, "ttl_s": 30}).ttl_s == 30
    assert ReadyReply.model_validate({"ok": False, "reason": "draining"}).reason == "draining"
