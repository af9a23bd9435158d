"""How full the queues of a pool are, as far as a Proxy tells it."""

from typing import Any

import pytest

from cacheroute.console.queueing import queueing_of, render_queue
from cacheroute.console.rows.loads import LoadRow, load_rows
from tests.cacheroute.console.builders import some_loads

RULES: dict[str, Any] = {"prepare_concurrency": 8, "ready_concurrency": 4, "max_queue": 2}


def some_rows(*loads: dict[str, Any], **more: Any) -> list[LoadRow]:
    return load_rows(some_loads(*loads, **more))


def test_the_alive_are_summed_up_with_the_caps_of_each() -> None:
    queued = queueing_of(
        some_rows(
            {"instance_id": "a", "active_prepare": 3, "active_ready": 2, "ready_queue_depth": 1},
            {"instance_id": "b", "active_prepare": 1, "max_concurrent": 10, "kv_links_busy": 1},
            {"instance_id": "c", "is_alive": False, "active_prepare": 90, "active_ready": 90},
            queue_rules=RULES,
        )
    )

    assert (queued.preparing, queued.prepare_limit, queued.waiting_to_prepare) == (4, 16, None)
    assert (queued.released, queued.ready_limit, queued.waiting_ready) == (2, 14, 1)
    assert (queued.kv_links, queued.kv_links_busy, queued.full) == (None, 1, ())


def test_a_proxy_that_tells_no_rules_has_no_limits_and_nobody_is_full() -> None:
    queued = queueing_of(some_rows({"instance_id": "a", "active_prepare": 3}))

    assert (queued.preparing, queued.prepare_limit, queued.ready_limit) == (3, None, None)
    assert queued.full == ()


@pytest.mark.parametrize("name", ["prepare_queue_depth", "ready_queue_depth"])
def test_whoever_lets_nobody_else_wait_is_full(name: str) -> None:
    queued = queueing_of(
        some_rows({"instance_id": "a", name: 2}, {"instance_id": "b", name: 1}, queue_rules=RULES)
    )

    assert queued.full == ("a",)


def test_where_the_most_wait_comes_first() -> None:
    rows = some_rows(
        {"instance_id": "a", "ready_queue_depth": 2},
        {"instance_id": "b", "ready_queue_depth": 2, "prepare_queue_depth": 1},
        queue_rules=RULES,
    )

    assert queueing_of(rows).full == ("b", "a")


@pytest.mark.parametrize(
    ("busy", "limit", "waiting", "text"),
    [(4, 16, 0, "4/16"), (16, 16, 3, "16/16 +3"), (None, 16, None, "—/16"), (4, None, None, "4")],
)
def test_a_count_stands_with_its_limit_and_those_that_wait(
    busy: int | None, limit: int | None, waiting: int | None, text: str
) -> None:
    assert render_queue(busy, limit, waiting) == text
