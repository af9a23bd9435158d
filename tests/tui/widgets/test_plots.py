"""Values as characters: the height they have, gaps blank, and as wide as asked for."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute_tui.widgets.plots import Row, ascii_line_rows, block_rows, line_rows

numbers = st.one_of(st.just(nan), st.floats(0, 100))


def lines(rows: list[Row]) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows]


def test_blocks_stand_as_high_as_their_values() -> None:
    found = lines(block_rows([0.0, 25.0, 50.0, 75.0, 100.0], 2, top=100.0))

    assert found == ["   ▄█", "▁▄███"]


def test_a_gap_is_blank_and_a_0_is_not() -> None:
    assert lines(block_rows([0.0, nan, 0.0], 1, top=1.0)) == ["▁ ▁"]
    assert lines(line_rows([[0.0, 0.0, nan, nan, 0.0, 0.0]], 3, 1, top=1.0)) == ["⣀ ⣀"]


def test_a_line_is_drawn_through_and_never_across_a_gap() -> None:
    through = lines(line_rows([[0.0, 100.0]], 1, 2, top=100.0))
    across = lines(line_rows([[0.0, nan, nan, 100.0]], 2, 2, top=100.0))

    assert through == ["⢸", "⡸"]
    assert across == [" ⠈", "⡀ "]


def test_the_second_line_is_thinner_so_that_no_colour_is_needed() -> None:
    flat = [50.0] * 8

    thick = lines(line_rows([flat], 4, 1, top=100.0))[0]
    thin = lines(line_rows([[nan] * 8, flat], 4, 1, top=100.0))[0]

    assert sum(bin(ord(c)).count("1") for c in thin) < sum(bin(ord(c)).count("1") for c in thick)


def test_a_row_of_one_line_is_one_run() -> None:
    rows = line_rows([[50.0] * 200], 100, 8, top=100.0)

    assert all(len(row) == 1 for row in rows)


def test_ascii_has_a_letter_for_each_line() -> None:
    found = lines(ascii_line_rows([[100.0] * 6, [0.0] * 6], 3, 3, top=100.0))

    assert found == ["***", "   ", "ooo"]
    assert "".join(lines(block_rows([nan, 50.0], 2, top=100.0, as_ascii=True))).isascii()


@given(st.lists(st.lists(numbers, max_size=90), max_size=4), st.integers(1, 40), st.integers(1, 9))
def test_rows_have_the_size_they_were_given(
    courses: list[list[float]], width: int, height: int
) -> None:
    for draw in (line_rows, ascii_line_rows):
        rows = lines(draw(courses, width, height, top=100.0))

        assert [len(row) for row in rows] == [width] * height


@pytest.mark.parametrize("value", [-5.0, 1e9])
def test_what_is_beyond_the_axis_stays_within_the_plot(value: float) -> None:
    for rows in (
        line_rows([[value] * 4], 2, 2, top=100.0),
        ascii_line_rows([[value] * 4], 2, 2, top=100.0),
        block_rows([value] * 2, 2, top=100.0),
    ):
        assert [len(row) for row in lines(rows)] == [2, 2]
