"""Columns by the sort of their value."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from cacheroute.console import cast


@dataclass(frozen=True)
class Row:
    value: Any


@pytest.mark.parametrize(
    ("build", "value", "text"),
    [
        (cast.word, "x", "x"),
        (cast.words, ["a", "b"], "a b"),
        (cast.yes, False, "no"),
        (cast.count, 0, "0"),
        (cast.number, 41.25, "41.25"),
        (cast.score, 4.9, "4.90"),
        (cast.percent, 63.4, "63%"),
        (cast.ratio, 0.5, "50.0%"),
        (cast.duration, 41, "41s"),
        (cast.wait, 4_100, "4.1s"),
        (cast.span, 12_400, "12.4 s"),
        (cast.latency, 1.94, "1.9ms"),
        (cast.memory, 2048, "2.0G"),
        (cast.bandwidth, 820.0, "820"),
        (cast.rate, 41.2, "41.2"),
    ],
)
def test_a_value_is_written_by_its_sort_and_unknown_is_a_dash(
    build: Any, value: object, text: str
) -> None:
    column = build("value", "V", "A value.")

    assert column.text(Row(value)) == text
    assert column.text(Row(None)) == "—"


def test_a_moment_is_the_time_of_day() -> None:
    column = cast.clock("value", "V", "A moment.")
    moment = datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC)

    assert column.text(Row(moment)) == f"{moment.astimezone():%H:%M:%S}.678"
    assert column.text(Row(None)) == "—"


def test_what_is_said_outranks_what_is_usual() -> None:
    column = cast.count("value", "V", "A value.", text=lambda _: "mine", right=False)

    assert (column.text(Row(1)), column.right) == ("mine", False)
