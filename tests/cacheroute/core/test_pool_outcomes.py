"""Outcomes are values that compare and cannot be changed."""

import dataclasses

import pytest

from cacheroute.core.pool_outcomes import Heartbeat, Refusal, Report


def test_outcomes_are_frozen() -> None:
    refusal = Refusal(code="pool_full", detail="The pool is full.")
    with pytest.raises(dataclasses.FrozenInstanceError):
        refusal.code = "address_taken"  # type: ignore[misc]


def test_an_unknown_id_has_no_member() -> None:
    assert Heartbeat(status="unknown_instance").member is None
    assert not Report(member=None).first_report
