"""One value against one that was typed."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from cacheroute.console.columns import Column, Unit
from cacheroute.console.comparing import compared, matching
from cacheroute.console.patterns import Expression


@dataclass(frozen=True)
class Row:
    value: Any


def a_column(unit: Unit = "", *, right: bool = False) -> Column[Row]:
    return Column(
        key="value", header="V", text=lambda row: str(row.value), doc=".", unit=unit, right=right
    )


def holds(value: object, sign: str, typed: str, unit: Unit = "") -> bool:
    return compared(a_column(unit), sign, typed)(Row(value))


@pytest.mark.parametrize("sign", [">", ">=", "<", "<=", "="])
def test_unknown_stands_in_no_relation_to_any_number(sign: str) -> None:
    assert not holds(None, sign, "0")


def test_numbers_are_compared_in_the_columns_unit() -> None:
    assert holds(121.0, ">", "2m", "s")
    assert not holds(120.0, ">", "2m", "s")
    assert holds(120.0, ">=", "2m", "s")
    assert holds(120.0, "=", "2m", "s")
    assert holds(119.0, "!=", "2m", "s")


def test_words_are_equal_in_any_case_and_a_star_is_anything() -> None:
    assert holds("Stale", ":", "stale")
    assert not holds("stale", ":", "stal")
    assert holds("inst-9001", ":", "INST-*")
    assert not holds("my-inst-9001", ":", "inst-*")


def test_a_list_is_equal_to_any_of_its_words() -> None:
    assert holds(["demo", "b"], ":", "demo")
    assert holds(("demo", "b"), "=", "B")
    assert not holds([], ":", "demo")


def test_yes_and_no_have_their_usual_words() -> None:
    assert holds(True, ":", "yes")
    assert holds(True, ":", "true")
    assert holds(False, ":", "no")
    assert not holds(False, ":", "yes")


def test_unknown_can_be_asked_for() -> None:
    assert holds(None, ":", "unknown")
    assert not holds(0, ":", "unknown")


def test_counts_by_reason_are_words_too() -> None:
    assert holds({"stale": 2}, ":", "stale=*")


def test_a_moment_is_compared_as_it_is_written() -> None:
    moment = datetime(2026, 1, 2, 3, 4, 5, 0, UTC)

    assert holds(moment, ":", "2026-01-02T*")


def test_a_word_where_a_quantity_is_needed_is_refused() -> None:
    with pytest.raises(ValueError, match="'much' is not a number"):
        compared(a_column("%", right=True), ":", "much")
    with pytest.raises(ValueError, match="'much' is not a number"):
        compared(a_column(), ">", "much")


def test_a_pattern_matches_anywhere_in_any_case() -> None:
    test = matching(a_column(), Expression("ST-[0-9]+$"))

    assert test(Row("inst-9"))
    assert not test(Row("inst-x"))
    assert not test(Row(None))


def test_many_stars_share_a_text_in_one_way_only() -> None:
    # Tried every way, this would not end.
    test = compared(a_column(), ":", "*a" * 100 + "b*")

    assert not test(Row("a" * 400))
    assert test(Row("a" * 400 + "b"))
