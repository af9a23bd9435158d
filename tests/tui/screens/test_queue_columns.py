"""The columns of queues, and the bar of what a new request waits for."""

from dataclasses import replace

import pytest

from cacheroute.console.look import Look
from cacheroute.console.rows.loads import LoadRow
from cacheroute.console.rules import RULES
from cacheroute_tui.screens.queue_columns import ahead_bar, queue_columns
from tests.tui.fleet import drawn_fleet

LOOK = Look(snapshot=drawn_fleet(), url="")
ROW = next(row for row in LOOK.queues if row.id == "inst-9007")


@pytest.mark.parametrize(
    ("slot_ms", "free_ms", "drawn"),
    [
        (0.0, 0.0, ""),
        (500.0, 1_000.0, "rrrrrfffff"),
        (1_000.0, 200.0, "rrrrrrrrrr"),
        (None, 500.0, "fffff"),
        (None, None, "—"),
        (9e9, 9e9, "rrrrrrrrrr"),
    ],
)
def test_a_bar_is_the_wait_for_a_slot_then_the_prompts_before(
    slot_ms: float | None, free_ms: float | None, drawn: str
) -> None:
    row = replace(ROW, next_slot_ready_in_ms=slot_ms, prefill_free_in_ms=free_ms)

    assert ahead_bar(row, 10, 1_000.0, as_ascii=True) == drawn


@pytest.mark.parametrize(
    ("waiting", "limit", "text"),
    [
        (2, 16, "2/16"), (0, 256, "0/256"), (300, 1_000, "300"), (16, 16, "16/16!"),
        (256, 256, "256!"), (2, None, "2"), (None, 16, "—"),
    ],
)  # fmt: skip
def test_a_count_stands_with_its_limit_where_there_is_room(
    waiting: int | None, limit: int | None, text: str
) -> None:
    columns = queue_columns(
        ahead_cells=10, longest_ms=lambda: 1_000.0, fleet_row=lambda _: None, rules=RULES,
        as_ascii=False,
    )  # fmt: skip
    column = next(column for column in columns if column.key == "prepare_queue_depth")
    row = replace(ROW, prepare_queue_depth=waiting, queue_limit=limit)

    assert column.text(row) == text
    assert column.tone is not None
    assert column.tone(row) == ("bad" if text.endswith("!") else "plain")


def test_a_long_wait_is_marked_and_an_unknown_one_is_not() -> None:
    columns = queue_columns(
        ahead_cells=10, longest_ms=lambda: 1_000.0, fleet_row=lambda _: None, rules=RULES,
        as_ascii=False,
    )  # fmt: skip
    backlog = next(column for column in columns if column.key == "predicted_total_backlog_ms")

    def tone(row: LoadRow) -> object:
        return backlog.tone(row) if backlog.tone else None

    assert tone(ROW) == "plain"
    assert tone(replace(ROW, predicted_total_backlog_ms=6_000.0)) == "warn"
    assert tone(replace(ROW, predicted_total_backlog_ms=None)) == "plain"
    assert columns[0].text(ROW) == " "
