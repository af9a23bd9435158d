"""What a change does, in words and in numbers."""

from typing import Any

import pytest

from cacheroute.console.changes import CHANGES, document_of, effect_in_words, rows_of
from cacheroute.wire.admin import ChangeReply


def a_condition(**given: Any) -> dict[str, Any]:
    plain = {
        "state": "alive", "draining": False, "reason": None, "weight": 1.0, "own_weight": 1.0,
        "weight_fixed": "weight" in given,
    }  # fmt: skip
    return {**plain, **given}


def a_change(instance_id: str = "i-2", **given: Any) -> dict[str, Any]:
    return {
        "instance_id": instance_id, "changed": True, "inflight": 4, "waiting": 0,
        "before": a_condition(), "after": a_condition(draining=True), **given,
    }  # fmt: skip


def a_reply(*changes: dict[str, Any], **given: Any) -> ChangeReply:
    return ChangeReply.model_validate(
        {
            "ok": True, "verb": "drain", "dry_run": False, "kept": True, "left_count": 2,
            "left_ids": ["i-1", "i-3"], "left_resting": 0, "left_without": [],
            "changes": list(changes) or [a_change()], **given,
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (a_reply(), "drain i-2: 4 requests run there; 2 Instances are left, both alive"),
        (
            a_reply(a_change(inflight=1), left_count=1),
            "drain i-2: 1 request runs there; 1 Instance is left, alive",
        ),
        (
            a_reply(a_change(inflight=0), left_count=7, left_resting=3),
            "drain i-2: no request runs there; "
            "7 Instances are left, 3 of them resting after failures",
        ),
        (
            a_reply(a_change(inflight=4, waiting=1), left_count=1, left_resting=1),
            "drain i-2: 3 requests run there and 1 more waits; "
            "1 Instance is left, resting after failures",
        ),
        (
            a_reply(a_change(inflight=4, waiting=2), left_count=3),
            "drain i-2: 2 requests run there and 2 more wait; 3 Instances are left, all alive",
        ),
        (
            a_reply(*[a_change(f"i-{n}", inflight=1) for n in range(5)], left_count=0),
            "drain i-0, i-1, i-2 and 2 more: 5 requests run there; nobody is left to take requests",
        ),
        (
            a_reply(left_without=["big"]),
            "drain i-2: 4 requests run there; 2 Instances are left, both alive; "
            "nobody takes requests for big any more",
        ),
        (
            a_reply(a_change(after=a_condition(state="gone")), verb="unregister"),
            "unregister i-2: 4 requests run there; who is alive comes back with its next "
            "heartbeat, unless it is stopped; 2 Instances are left, both alive",
        ),
        (
            a_reply(verb="undrain", left_count=3),
            "undrain i-2: 4 requests run there; 3 Instances take requests, all alive",
        ),
        (
            a_reply(a_change(inflight=0), verb="undrain", left_count=1),
            "undrain i-2: no request runs there; 1 Instance takes requests, alive",
        ),
        (a_reply(a_change(changed=False)), "drain i-2: nothing changes"),
    ],
)
def test_an_effect_is_a_sentence_with_its_numbers(reply: ChangeReply, expected: str) -> None:
    assert effect_in_words(reply) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (a_condition(), "alive"),
        (a_condition(draining=True), "drain 4"),
        (a_condition(state="stale", draining=True), "stale, drain"),
        (a_condition(state="gone", draining=True), "drain 4, gone"),
        (a_condition(weight=2.5), "alive, weight 2.5 (own 1)"),
        (a_condition(state="gone", weight=0, own_weight=None), "gone, weight 0 (own —)"),
        (a_condition(weight=1.0), "alive, weight 1 (own 1)"),
        (a_condition(state="gone", weight=None, own_weight=None), "gone"),
    ],
)
def test_a_condition_is_a_few_words(condition: dict[str, Any], expected: str) -> None:
    [row] = rows_of(a_reply(a_change(after=condition)))
    assert row.now == expected


def test_a_row_has_a_column_for_each_of_its_texts() -> None:
    [row] = rows_of(a_reply(a_change(waiting=1, changed=False)))
    texts = {column.header: column.text(row) for column in CHANGES.columns}
    assert texts == {
        "ID": "i-2", "WAS": "alive", "IS": "drain 4 (no change)", "INFL": "4", "WAIT": "1",
    }  # fmt: skip
    assert (CHANGES.name_of(row), CHANGES.searched(row)) == ("i-2", "i-2")


def test_the_document_has_its_published_keys() -> None:
    document = document_of(a_reply(), proxy_url="http://p", waited_s=1.5)
    assert CHANGES.schema == "cacheroute.change/1"
    assert document == {
        "proxy_url": "http://p", "verb": "drain", "kept": True, "left_count": 2,
        "left_ids": ["i-1", "i-3"], "left_resting": 0, "left_without": [], "waited_s": 1.5,
        "strategy": None,
    }  # fmt: skip
