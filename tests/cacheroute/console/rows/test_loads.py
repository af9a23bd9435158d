"""What each Instance has to do, signal by signal."""

from cacheroute.console.rows.loads import LOADS, load_rows, only_alive
from tests.cacheroute.console.builders import some_loads

LOADS_OF_THREE = some_loads(
    {"instance_id": "busy", "inflight": 9, "least_load_score": {"total": 9.0}},
    {"instance_id": "gone", "is_alive": False, "least_load_score": {"total": 0.0}},
    {"instance_id": "free", "inflight": 0, "least_load_score": {"total": 0.0}},
    {"instance_id": "mute"},
)


def test_alive_ones_come_first_and_the_least_loaded_on_top() -> None:
    assert [row.id for row in load_rows(LOADS_OF_THREE)] == ["free", "busy", "mute", "gone"]


def test_those_that_have_expired_can_be_left_out() -> None:
    assert "gone" not in {row.id for row in only_alive(load_rows(LOADS_OF_THREE))}


def test_the_score_is_the_proxys_own() -> None:
    loads = some_loads(
        {
            "instance_id": "a",
            "least_load_score": {"total": 7.5, "components": {"inflight": 1.0}},
        }
    )

    assert load_rows(loads)[0].score == 7.5


def test_a_measured_zero_is_no_unknown() -> None:
    [row] = load_rows(some_loads({"instance_id": "a", "inflight": 0}))
    texts = {column.key: column.text(row) for column in LOADS.columns}

    assert texts["inflight"] == "0"
    assert texts["predicted_total_backlog_ms"] == "—"
