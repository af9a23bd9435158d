"""Changes are written down, and what cannot be written holds nobody up."""

import logging
from collections.abc import Mapping

import pytest

from cacheroute.core.changes import Who
from cacheroute.runtime.ledger import Audit, Ledger
from cacheroute.stores.base import StoreError
from tests.cacheroute.runtime.operating_parts import Lines
from tests.cacheroute.runtime.runtime_parts import HandClock


class Full:
    """A place with no room."""

    def add(self, line: Mapping[str, object]) -> None:
        raise StoreError("The audit file cannot be written: No space left.")


def noted(audit: Audit, user: str | None = "kim") -> None:
    who = Who(peer="10.0.0.9", user=user)
    ledger = Ledger(audit, HandClock())
    ledger.note("strategy", who, instance_id=None, before="a", after="b", inflight=3)


def test_a_change_is_one_line_in_the_log_and_one_in_the_file(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    audit = Lines()
    noted(audit)
    assert audit.lines == [
        {
            "at": 1.7e9, "verb": "strategy", "instance_id": None, "before": "a", "after": "b",
            "inflight": 3, "peer": "10.0.0.9", "user": "kim", "token": None,
        }
    ]  # fmt: skip
    [record] = caplog.records
    assert record.getMessage() == (
        "admin.strategy instance_id=None change='a > b' inflight=3 "
        "peer=10.0.0.9 user='kim' token=None"
    )


def test_the_log_only_tells_what_differs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    before = {"draining": False, "reason": None, "weight": 1.0}
    after = {"draining": True, "reason": "new\ndriver", "weight": 1.0}
    Ledger(Lines(), HandClock()).note(
        "drain", Who(peer="::1"), instance_id="i-1", before=before, after=after, inflight=0
    )
    assert (
        caplog.records[0]
        .getMessage()
        .startswith(
            "admin.drain instance_id=i-1 "
            "change='draining False > True, reason None > new\\ndriver' inflight=0"
        )
    )


def test_a_name_cannot_write_a_line_of_its_own_into_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    noted(Lines(), user="kim\nadmin.drain instance_id=i-1")
    assert len(caplog.records[0].getMessage().splitlines()) == 1


def test_what_cannot_be_written_is_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    noted(Full())
    assert [record.getMessage() for record in caplog.records] == [
        "audit.not_written reason=The audit file cannot be written: No space left."
    ]
