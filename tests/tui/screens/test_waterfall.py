"""The way of one request, drawn: no bar without a room, none beyond the edge."""

from dataclasses import replace

import pytest

from cacheroute.console.cells import cells
from cacheroute_tui.screens.waterfall import decision_of, waterfall
from cacheroute_tui.widgets.pager import text_of_line
from tests.tui.screens.requests import decided, plain_request, request, room


def _texts(width: int, **changed: object) -> list[str]:
    row = replace(request(1, "r-1"), **changed)  # type: ignore[arg-type]
    return [text_of_line(line) for line in waterfall(row, None, width)]


@pytest.mark.parametrize("width", [40, 60, 80, 160, 400])
def test_no_bar_runs_over_the_edge(width: int) -> None:
    bars = [line for line in _texts(width) if "█" in line]

    assert len(bars) == 7
    assert all(cells(line) <= max(width, 46) for line in bars)


def test_a_room_that_took_no_time_is_seen() -> None:
    [line] = [line for line in _texts(80, spans=(room("place", 0, 0),)) if "place" in line]

    assert line.count("█") == 1


def test_one_that_took_no_time_at_all_is_drawn() -> None:
    assert _texts(80, spans=(room("place", 0, 0),), e2e_ms=0.0)


def test_a_prediction_far_beyond_the_end_stays_on_the_screen() -> None:
    [line] = [line for line in _texts(80, spans=(room("decode", 0, 10, 1e9),)) if "decode" in line]

    assert cells(line) <= 80


def test_a_request_of_which_nothing_is_known_says_so() -> None:
    assert " no room of it is known" in _texts(80, spans=())


def test_a_failure_is_told() -> None:
    head = _texts(120, outcome="upstream_error", error="[boom]", attempts=3)[0]

    assert "3 tries  [boom]" in head


def test_a_decision_is_that_of_the_request_or_of_the_list() -> None:
    row = request(1, "r-1")

    assert decision_of(row, [decided("r-2"), decided("r-1")]) == decided("r-1")
    assert decision_of(row, []) is None
    assert decision_of(replace(row, decisions=(decided("r-1"),)), []) == decided("r-1")


def test_without_knowledge_none_is_drawn() -> None:
    plain = replace(decided("r-1"), injection=None)
    lines = [text_of_line(line) for line in waterfall(plain_request(1, "r-1"), plain, 80)]

    assert lines[-1] == " it names no knowledge"
