"""One request written out: bars on one clock, none of them too short to be seen."""

from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.cells import ascii_only, cells
from cacheroute.console.waterfall import BAR_CELLS, bar, waterfall
from tests.cacheroute.console.rows.test_traces import a_trace


def test_a_bar_begins_and_ends_where_its_stretch_does() -> None:
    assert bar(0, 50, 100, 10) == "■■■■■     "
    assert bar(50, 100, 100, 10) == "     ■■■■■"
    assert bar(40, 41, 100, 10) == "    ·     "
    assert bar(100, 100, 100, 10) == "         ·"
    assert (bar(0, 1, 0, 3), bar(0, 1, 1, 0)) == ("·  ", "")
    assert ascii_only(bar(0, 50, 100, 4)) == "##  "


@given(st.floats(-10, 1e4), st.floats(-10, 1e4), st.floats(0, 1e4), st.integers(1, 60))
def test_a_bar_is_as_wide_as_it_was_asked_to_be(
    start: float, end: float, whole: float, width: int
) -> None:
    assert cells(bar(start, max(start, end), whole, width)) == width


def test_a_request_has_a_line_for_each_room_and_what_was_predicted() -> None:
    lines = waterfall(a_trace())
    text = [" | ".join((line.label, *line.facts)) for line in lines]

    assert text[0].startswith("request | r-1 | i-1 | ok 200 | ")
    rooms = [line for line in text if "■" in line or "·" in line[:20]]
    assert [line.split()[1] for line in rooms] == ["place", "prepare", "·", "prefill", "decode"]
    assert any("predicted 90.0ms" in line for line in text)
    assert any(line.startswith("ttft | 120.0ms") and "off by 10.0%" in line for line in text)
    assert any(line.startswith("tokens | prompt 10 | of them cached —") for line in text)
    assert text[-1] == "why | It was due."


def test_a_failure_is_told_in_its_own_words_and_in_an_alarming_colour() -> None:
    lines = waterfall(a_trace(outcome="upstream_lost", error="i-1 hung up.", status=None))

    assert (lines[0].tone, lines[0].facts[2]) == ("bad", "upstream_lost")
    assert lines[2].facts == ("i-1 hung up.",)


def test_the_bars_have_the_room_they_are_given() -> None:
    wide = [line.facts[0] for line in waterfall(a_trace(), cells=60) if line.label == ""]
    usual = [line.facts[0] for line in waterfall(a_trace()) if line.label == ""]

    assert cells(wide[1]) - cells(usual[1]) == 60 - BAR_CELLS
