"""Lines that are drawn when they are looked at."""

from cacheroute_tui.widgets.later_lines import LaterLines
from cacheroute_tui.widgets.lines import Span, TextLine, plain


class _Drawn:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> TextLine:
        self.times += 1
        return plain(f"drawn {self.times}", "good")


def test_a_line_is_drawn_when_it_is_looked_at_and_not_before() -> None:
    drawn = _Drawn()
    lines = LaterLines([plain("there"), drawn])

    assert len(lines) == 2
    assert lines[0] == plain("there")
    assert drawn.times == 0
    assert lines[1] == plain("drawn 1", "good")


def test_grey_lines_keep_their_text() -> None:
    lines = LaterLines([plain("there", "good"), _Drawn()], is_grey=True)

    assert list(lines) == [(Span("there", "dim"),), (Span("drawn 1", "dim"),)]


def test_a_part_of_them_is_not_drawn_either() -> None:
    drawn = _Drawn()
    part = LaterLines([plain("a"), drawn, plain("c")], is_grey=True)[1:]

    assert drawn.times == 0
    assert [line[0].text for line in part] == ["drawn 1", "c"]
