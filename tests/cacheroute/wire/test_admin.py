"""What operators send, and what they get back."""

import pytest
from pydantic import ValidationError

from cacheroute.wire.admin import ChangeBody, ChangeReply, DrainBody, StrategyBody, WeightBody


def test_a_change_is_done_unless_only_asked_about() -> None:
    body = DrainBody(instance_ids=["i-1"])
    assert (body.dry_run, body.force, body.reason) == (False, False, None)
    assert StrategyBody(name="rr").dry_run is False


@pytest.mark.parametrize("weight", [0, 1e-6, 1, 2.5, 1e6, None])
def test_a_weight_is_usable_or_null(weight: float | None) -> None:
    assert WeightBody(instance_ids=["i-1"], weight=weight).weight == weight


@pytest.mark.parametrize("weight", [-1, 1e-7, 1e7, float("nan"), True, "2x"])
def test_a_weight_that_no_share_can_be_made_of_is_refused(weight: object) -> None:
    with pytest.raises(ValidationError):
        WeightBody.model_validate({"instance_ids": ["i-1"], "weight": weight})


@pytest.mark.parametrize("fields", [{"dryrun": True}, {"reason": "x"}, {"Force": True}])
def test_a_misspelt_field_is_refused_and_not_passed_over(fields: dict[str, object]) -> None:
    # A change that was only to be tried out would be made.
    with pytest.raises(ValidationError):
        ChangeBody.model_validate({"instance_ids": ["i-1"], **fields})


def test_a_reason_is_short() -> None:
    with pytest.raises(ValidationError):
        DrainBody(instance_ids=["i-1"], reason="x" * 201)


def test_a_reply_of_a_later_version_is_read_all_the_same() -> None:
    reply = ChangeReply.model_validate(
        {
            "ok": True, "verb": "drain", "dry_run": False, "kept": True, "left_count": 0,
            "left_ids": [], "left_resting": 0, "left_without": [], "new": 1,
            "changes": [
                {
                    "instance_id": "i-1", "changed": True, "inflight": 1, "waiting": 0, "new": 1,
                    "before": {"state": "alive", "draining": False, "new": 1},
                    "after": {"state": "alive", "draining": True},
                }
            ],
        }
    )  # fmt: skip
    assert reply.changes[0].after.weight is None
