"""What each host has left, and how old that is."""

from typing import Any

from cacheroute.console.rows.resources import RESOURCES, ResourceRow, only_alive, resource_rows
from cacheroute.wire.debug import InstanceResourcesReply
from tests.cacheroute.console.builders import some_loads


def resources(*ids: str, **resource: Any) -> InstanceResourcesReply:
    return InstanceResourcesReply.model_validate(
        {
            "instances": [
                {
                    "instance_id": name, "host": "h", "port": 1, "last_seen_at": 0,
                    "resource": resource,
                }
                for name in ids
            ]
        }
    )  # fmt: skip


def the_row(**resource: Any) -> ResourceRow:
    [row] = resource_rows(resources("a", **resource), some_loads({"instance_id": "a"}))
    return row


def test_ages_are_counted_by_the_proxys_clock_and_unknown_without_it() -> None:
    reply = resources("a", resource_reported_at=1_088)

    assert the_row(resource_reported_at=1_088).report_age_s == 12
    assert the_row(resource_reported_at=2_000).report_age_s == 0
    assert the_row().report_age_s is None
    assert resource_rows(reply, None)[0].report_age_s is None


def test_shares_need_both_sides() -> None:
    assert the_row(gpu_mem_used_mb=1, gpu_mem_total_mb=4).gpu_memory_util == 25
    assert the_row(gpu_mem_used_mb=1).gpu_memory_util is None
    assert the_row(memory_used_mb=0, memory_total_mb=4).memory_util == 0


def test_only_those_known_to_be_gone_are_left_out() -> None:
    loads = some_loads({"instance_id": "gone", "is_alive": False}, {"instance_id": "here"})
    rows = resource_rows(resources("gone", "here", "unheard"), loads)

    assert [(row.id, row.is_alive) for row in rows] == [
        ("here", True),
        ("unheard", None),
        ("gone", False),
    ]
    assert [row.id for row in only_alive(rows)] == ["here", "unheard"]


def test_nothing_reported_is_a_row_of_dashes() -> None:
    texts = {column.key: column.text(the_row()) for column in RESOURCES.usual}

    assert {texts[key] for key in texts if key not in ("id", "host")} == {"—"}
