"""A labelled line is a value."""

from cacheroute.console.lines import Line


def test_a_line_is_plain_unless_said_otherwise() -> None:
    assert Line(label="pool", facts=("5 alive",)).tone == "plain"
