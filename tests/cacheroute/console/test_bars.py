"""A share as a bar: as long as it is, and never blank for what nobody knows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.bars import bar


@pytest.mark.parametrize(
    ("value", "drawn"),
    [(0, "····"), (50, "██··"), (100, "████"), (250, "████"), (-5, "····"), (12.5, "▌···")],
)
def test_a_bar_is_as_long_as_its_value(value: float, drawn: str) -> None:
    assert bar(value, 4) == drawn


def test_unknown_is_a_question_mark_and_not_0() -> None:
    assert bar(None, 4) == "?···"
    assert bar(None, 4) != bar(0, 4)


def test_a_bar_in_ascii_has_nothing_else() -> None:
    assert bar(50, 4, as_ascii=True) == "##.."
    assert bar(None, 4, as_ascii=True) == "?   "


@given(st.one_of(st.none(), st.floats(-1e9, 1e9)), st.integers(0, 60), st.booleans())
def test_a_bar_has_the_width_it_was_given(value: float | None, width: int, as_ascii: bool) -> None:
    assert len(bar(value, width, as_ascii=as_ascii)) == width
