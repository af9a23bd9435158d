import pytest

from cacheroute.demo.exposition import Family, Histogram, render_family


def test_a_gauge_is_help_type_and_values() -> None:
    family = Family(name="x:running", kind="gauge", help="What runs.")
    assert render_family(family, [("", {"b": "2", "a": "1"}, 3)], 0.0) == (
        '# HELP x:running What runs.\n# TYPE x:running gauge\nx:running{a="1",b="2"} 3.0\n'
    )


def test_a_counter_ends_in_total_and_says_when_it_began() -> None:
    family = Family(name="x:asked", kind="counter", help="What was asked.")
    assert render_family(family, [("", {}, 2)], 1.5).splitlines() == [
        "# HELP x:asked_total What was asked.",
        "# TYPE x:asked_total counter",
        "x:asked_total 2.0",
        "# HELP x:asked_created What was asked.",
        "# TYPE x:asked_created gauge",
        "x:asked_created 1.5",
    ]


def test_a_value_on_a_bound_belongs_to_it() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 9.0):
        histogram.observe(value)
    assert histogram.samples({}) == [
        ("_bucket", {"le": "1.0"}, 2),
        ("_bucket", {"le": "2.0"}, 3),
        ("_bucket", {"le": "+Inf"}, 4),
        ("_count", {}, 4),
        ("_sum", {}, 12.0),
    ]
    assert (histogram.count, histogram.total) == (4, 12.0)


@pytest.mark.parametrize(
    ("value", "shown"), [('a"b', r"a\"b"), ("a\\b", r"a\\b"), ("a\nb", r"a\nb")]
)
def test_label_values_are_escaped(value: str, shown: str) -> None:
    text = render_family(Family(name="x", kind="gauge", help="h"), [("", {"l": value}, 1)], 0.0)
    assert f'x{{l="{shown}"}} 1.0' in text
