"""What stands in line for each Instance."""

from cacheroute.console.rows.queues import QUEUES, queue_rows
from tests.cacheroute.console.builders import some_loads


def test_the_longest_wait_is_on_top() -> None:
    rows = queue_rows(
        some_loads(
            {"instance_id": "short", "predicted_total_backlog_ms": 10.0},
            {"instance_id": "unknown"},
            {"instance_id": "long", "predicted_total_backlog_ms": 900.0},
            {"instance_id": "gone", "is_alive": False, "predicted_total_backlog_ms": 9e9},
        )
    )

    assert [row.id for row in rows] == ["long", "short", "unknown", "gone"]


def test_waiting_and_working_have_a_column_each() -> None:
    [row] = queue_rows(
        some_loads(
            {
                "instance_id": "a", "prepare_queue_depth": 1, "active_prepare": 2,
                "ready_queue_depth": 3, "active_ready": 4, "next_slot_ready_in_ms": 920.0,
            }
        )
    )  # fmt: skip
    texts = {column.header: column.text(row) for column in QUEUES.columns}

    assert [texts[name] for name in ("PREP-Q", "PREPARING", "READY-Q", "RELEASED", "SLOT")] == [
        "1", "2", "3", "4", "0.9s",
    ]  # fmt: skip


def test_each_count_stands_with_its_limit_where_the_proxy_tells_it() -> None:
    rules = {"prepare_concurrency": 8, "ready_concurrency": 64, "max_queue": 3}
    load = {
        "instance_id": "a", "prepare_queue_depth": 1, "active_prepare": 8, "max_concurrent": 4,
        "ready_queue_depth": 3, "active_ready": 2, "kv_links": 2, "kv_links_busy": 1,
    }  # fmt: skip
    [row] = queue_rows(some_loads(load, queue_rules=rules))
    texts = {column.header: column.text(row) for column in QUEUES.columns}
    tones = {column.header: column.tone(row) for column in QUEUES.columns if column.tone}

    assert [texts[name] for name in ("PREP-Q", "PREPARING", "READY-Q", "RELEASED", "KV-BUSY")] == [
        "1/3", "8/8", "3/3", "2/4", "1/2",
    ]  # fmt: skip
    assert (tones["PREP-Q"], tones["READY-Q"]) == ("plain", "bad")
    assert QUEUES.column("prepare_queue_depth").reader()(row) == 1


def test_columns_that_matter_least_go_first_where_there_is_no_room() -> None:
    ranks = {column.key: column.rank for column in QUEUES.columns if not column.wide}

    assert max(ranks, key=lambda key: ranks[key]) == "is_alive"
    assert [key for key, rank in ranks.items() if not rank] == [
        "id", "prepare_queue_depth", "ready_queue_depth",
    ]  # fmt: skip
