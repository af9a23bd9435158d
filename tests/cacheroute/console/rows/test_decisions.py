"""Which Instance got which request, and why."""

from datetime import UTC, datetime
from typing import Any

import msgspec

from cacheroute.console.rows.decisions import DECISIONS, DecisionRow, decision_rows
from cacheroute.wire.decisions import DecisionsReply


def the_row(**changes: Any) -> DecisionRow:
    one = {
        "seq": 1, "at": 0.5, "request_id": "r-1", "strategy": "least_load",
        "endpoint": "chat/completions", **changes,
    }  # fmt: skip
    [row] = decision_rows(msgspec.convert({"ok": True, "decisions": [one]}, DecisionsReply))
    return row


def texts(row: DecisionRow) -> dict[str, str]:
    return {column.key: column.text(row) for column in DECISIONS.columns}


def test_a_decision_has_its_moment_and_its_words() -> None:
    row = the_row(instance_id="i-1", reason="It was due.", skipped={"stale": 2, "draining": 1})

    assert row.at == datetime(1970, 1, 1, 0, 0, 0, 500_000, UTC)
    assert texts(row)["reason"] == "It was due."
    assert texts(row)["skipped"] == "2 stale, 1 draining"


def test_a_reason_beside_a_name_does_not_begin_with_that_name() -> None:
    row = the_row(instance_id="i-1", reason="i-1 had the least cost, 3, among 2 candidates.")

    assert row.why == texts(row)["reason"] == "had the least cost, 3, among 2 candidates."
    assert DECISIONS.column("why").reader()(row) == row.reason
    assert the_row(reason="Nobody is alive.").why == "Nobody is alive."


def test_nobody_chosen_is_a_dash_in_an_alarming_colour() -> None:
    row = the_row()
    column = DECISIONS.column("instance")

    assert texts(row)["instance_id"] == "—"
    assert column.tone is not None
    assert column.tone(row) == "bad"


def test_the_way_of_its_knowledge_is_a_word() -> None:
    assert the_row(injection={"injection_mode": "kv"}).mode == "kv"
    assert the_row(injection={"injection_mode": 5}).mode is None
    assert the_row().mode is None
