"""Numbers over time as one cell each."""

from math import nan

from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.cells import cells
from cacheroute.console.sparks import spark


def test_the_newest_value_is_on_the_right_and_what_is_missing_is_a_dot() -> None:
    given = [0.0, 50.0, nan, 100.0]

    assert spark(given, 6, top=100.0) == "··▁▅·█"


def test_without_a_top_the_highest_value_is_the_highest_block() -> None:
    assert spark([1.0, 2.0], 2) == "▅█"
    assert spark([0.0, 0.0], 2) == "▁▁"


def test_an_ascii_terminal_gets_letters_and_blanks() -> None:
    given = [nan, 0.0, 50.0, 100.0]

    drawn = spark(given, 4, top=100.0, as_ascii=True)

    assert drawn.isascii()
    assert drawn == " _+#"


@given(
    st.lists(st.one_of(st.floats(0, 1e9), st.just(nan)), max_size=50),
    st.integers(0, 40),
    st.one_of(st.none(), st.floats(0, 1e9)),
)
def test_it_always_takes_the_cells_it_is_given(
    values: list[float], width: int, top: float | None
) -> None:
    assert cells(spark(values, width, top=top)) == width
