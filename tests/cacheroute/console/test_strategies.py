"""Strategies, and the change from one to another."""

from cacheroute.console.changes import document_of
from cacheroute.console.strategies import STRATEGIES, change_document, change_lines, rows_of
from cacheroute.wire.admin import StrategiesReply, StrategyReply
from tests.cacheroute.console.test_changes import a_reply

TOLD = StrategiesReply.model_validate(
    {
        "ok": True, "strategy": "least_load", "configured": "round_robin",
        "known": [
            {"name": "round_robin", "aliases": ["rr"], "summary": "In turn."},
            {"name": "least_load", "aliases": ["ll"], "summary": "The least loaded."},
            {"name": "other", "aliases": [], "summary": "Another."},
        ],
    }
)  # fmt: skip


def a_change(**given: object) -> StrategyReply:
    whole = {
        "ok": True, "dry_run": False, "changed": True, "before": "round_robin",
        "after": "least_load", "inflight": 3, "left": 2,
    }  # fmt: skip
    return StrategyReply.model_validate({**whole, **given})


def test_the_list_says_which_one_routes_and_which_one_comes_back() -> None:
    rows = rows_of(TOLD)
    texts = [[column.text(row) for column in STRATEGIES.columns] for row in rows]
    assert texts == [
        ["round_robin", "configured", "rr", "In turn."],
        ["least_load", "routes", "ll", "The least loaded."],
        ["other", "", "", "Another."],
    ]
    tones = [column.tone(row) for row in rows for column in STRATEGIES.columns if column.tone]
    assert tones == ["plain", "good", "plain"]
    assert [STRATEGIES.name_of(row) for row in rows] == ["round_robin", "least_load", "other"]
    assert STRATEGIES.searched(rows[0]) == "round_robin In turn."


def test_a_change_says_what_runs_on_and_where_the_next_go() -> None:
    facts = [line.facts for line in change_lines(a_change())]
    assert facts == [
        ("round_robin → least_load",),
        ("3 requests go on as placed", "the next ones go to 2 Instances"),
    ]
    one = change_lines(a_change(inflight=1, left=1))[1].facts
    assert one == ("1 request goes on as placed", "the next ones go to 1 Instance")
    assert change_lines(a_change(inflight=0))[1].facts[0] == "no request runs"
    assert change_lines(a_change(changed=False))[0].facts == ("least_load", "no change")


def test_its_document_has_the_keys_of_every_change() -> None:
    document = change_document(a_change(), proxy_url="http://p")
    of_instances = document_of(a_reply(), proxy_url="http://p")
    assert document.keys() == of_instances.keys() | {"total", "items"}
    assert document["strategy"] == {
        "before": "round_robin", "after": "least_load", "changed": True, "inflight": 3,
    }  # fmt: skip
