"""Lines of spans: cut to the cell, never markup, and as high as they are many."""

from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from cacheroute.console.cells import cells
from cacheroute_tui import frame
from cacheroute_tui.widgets.lines import Lines, Span, fitted, plain, spread


class _Shown(App[None]):
    def compose(self) -> ComposeResult:
        """Show two lines."""
        yield Lines([plain("[b]bold[/b] \x1b[31m"), plain("一二三四五六七八九十一二三")])


def text_of(spans: list[Span]) -> str:
    return "".join(span.text for span in spans)


def test_left_gives_way_and_right_stays() -> None:
    line = spread([Span("a long name on the left")], [Span("14:23")], 16)

    assert text_of(line) == "a long na… 14:23"


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert text_of(fitted([Span("a\x1bb"), Span("\n")], 20)) == "a\\x1bb\\n"


@given(st.lists(st.text(max_size=20), max_size=5), st.integers(0, 30))
def test_fitted_spans_never_need_more_than_the_width(texts: list[str], width: int) -> None:
    assert cells(text_of(fitted([Span(text) for text in texts], width))) <= width


async def test_lines_are_text_and_the_height_follows_their_number() -> None:
    app = _Shown()
    async with app.run_test(size=(24, 5)) as pilot:
        await pilot.pause()
        lines = app.query_one(Lines)
        assert lines.size.height == 2
        first, second, *_ = frame.text_of(app.screen).splitlines()
        assert first.rstrip() == "[b]bold[/b] \\x1b[31m"
        assert second.rstrip() == "一二三四五六七八九十一…"
        lines.show([plain("1"), plain("2"), plain("3")])
        await pilot.pause()
        assert lines.size.height == 3
        assert lines.text == "1\n2\n3"
