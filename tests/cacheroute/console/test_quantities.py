"""Numbers with units, as people type them."""

import pytest

from cacheroute.console.columns import Unit
from cacheroute.console.quantities import read_quantity


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("80", "", 80),
        ("-1.5", "", -1.5),
        (".5", "", 0.5),
        ("80%", "%", 80),
        ("50%", "ratio", 0.5),
        ("2m", "s", 120),
        ("500ms", "s", 0.5),
        ("1d", "s", 86_400),
        ("1.5s", "ms", 1_500),
        ("7", "ms", 7),
        ("10GB", "MB", 10_240),
        ("512mb", "MB", 512),
        ("1Gbps", "Mbps", 1_000),
        ("41/s", "req/s", 41),
    ],
)
def test_what_is_typed_is_in_the_columns_unit(text: str, unit: Unit, value: float) -> None:
    assert read_quantity(text, unit) == value


@pytest.mark.parametrize(
    ("text", "unit", "words"),
    [
        ("many", "", "is not a number"),
        ("", "s", "is not a number"),
        ("nan", "s", "is not a number"),
        ("9" * 400, "s", "not a finite number"),
        ("80%", "s", "only ms, s, m, h, d will do"),
        ("80%", "", "a bare number will do"),
        ("1.2.3", "", "is not a number"),
    ],
)
def test_what_is_no_quantity_says_what_may_be_typed(text: str, unit: Unit, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_quantity(text, unit)
