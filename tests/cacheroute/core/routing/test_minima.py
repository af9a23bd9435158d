"""A list that knows its least, against one that looks."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.core.routing.minima import Minima

NUMBERS = st.sampled_from([0.0, 1.0, 1.0, 2.0, math.inf]) | st.floats(-10, 10)


@pytest.mark.parametrize("count", [1, 3, 32, 33, 64, 65, 200, 1000])
def test_the_first_of_the_least_is_found_from_any_start_going_round(count: int) -> None:
    minima = Minima([float(n % 7 != 3) for n in range(count)])
    for start in range(count):
        order = [n % count for n in range(start, start + count)]
        assert (
            minima.least_from(start)
            == min((minima[n], place, n) for place, n in enumerate(order))[::2]
        )


@settings(deadline=None)
@given(
    count=st.integers(1, 150),
    puts=st.lists(st.tuples(st.integers(0, 149), NUMBERS, st.integers(0, 149)), max_size=60),
)
def test_after_any_change_the_least_is_the_least(
    count: int, puts: list[tuple[int, float, int]]
) -> None:
    plain = [1.0] * count
    minima = Minima(list(plain))
    for index, value, start in puts:
        index, start = index % count, start % count
        plain[index] = value
        minima.put(index, value)
        least = min(plain)
        assert minima.least() == least
        turned = plain[start:] + plain[:start]
        assert minima.least_from(start) == (least, (start + turned.index(least)) % count)
        others = [*plain[:index], math.inf, *plain[index + 1 :]]
        assert minima.beside(index) == (min(others), others.index(min(others)))
        assert [minima[n] for n in range(len(minima))] == plain
