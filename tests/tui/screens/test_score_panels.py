"""What stands around the map of scores: a place, a sum, a cell, and what a what-if would change."""

from collections.abc import Sequence

from cacheroute.console.look import Look
from cacheroute.console.rows.scores import what_if
from cacheroute.console.score_map import of_look
from cacheroute_tui.screens.score_panels import (
    cell_sheet,
    decision_columns,
    legend_line,
    spot_lines,
    spot_title,
    what_if_line,
)
from cacheroute_tui.widgets.heatmap import Spot
from cacheroute_tui.widgets.lines import TextLine
from tests.tui.fleet import WEIGHTS, big_fleet, decisions, drawn_fleet

LOOK = Look(snapshot=drawn_fleet(), url="")
SCORES = of_look(LOOK)


def text_of(lines: Sequence[TextLine]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def test_a_title_tells_the_place_and_what_is_before_it() -> None:
    assert spot_title(SCORES.row_of("inst-9001"), SCORES, "least_load") == "inst-9001 · rank 1/5"
    assert spot_title(SCORES.row_of("inst-9004"), SCORES, "least_load").startswith(
        "inst-9004 · rank 2/5 · behind inst-9001: infl +1, preparing +1"
    )


def test_a_title_tells_why_one_is_left_out() -> None:
    title = spot_title(SCORES.row_of("inst-9005"), SCORES, "least_load")

    assert title == "inst-9005 · not in the choice: draining (2 left)"


def test_a_title_tells_of_ties() -> None:
    scores = of_look(Look(snapshot=big_fleet(1_000), url=""))

    assert spot_title(scores[0], scores, "least_load").endswith(
        "rank 1/1000, tied with 5: by turns"
    )


def test_a_cell_is_a_product_and_a_share() -> None:
    row = SCORES.row_of("inst-9001")

    lines = text_of(spot_lines(row, Spot(instance_id=row.id, signal="inflight"), WEIGHTS, width=60))

    assert lines[0].startswith(" score 4.90 = infl 3×1")
    assert lines[1] == " parts iii r d b"
    assert lines[2] == " inflight 3 × 1 = 3, 61% of the score"


def test_a_cell_that_nobody_told_is_not_0() -> None:
    row = SCORES.row_of("inst-9003")

    lines = text_of(
        spot_lines(row, Spot(instance_id=row.id, signal="active_ready"), WEIGHTS, width=60)
    )

    assert lines[0] == " score ?  not known"
    assert "it is not 0" in lines[2]


def test_a_what_if_tells_its_changes_and_its_order() -> None:
    wanted = {"inflight": 0.0}

    [line] = text_of([what_if_line(what_if(LOOK.scores, wanted), WEIGHTS, wanted)])

    assert line == (" what-if, only here: inflight 1→0 · the same order: 9001 9004 9002 9008 9007")


def test_a_long_order_is_cut_and_the_rest_counted() -> None:
    rows = what_if(Look(snapshot=big_fleet(50), url="").scores, {"inflight": 2.0})

    [line] = text_of([what_if_line(rows, WEIGHTS, {"inflight": 2.0})])

    assert line.endswith("and 38 more")


def test_letters_are_those_of_signals_that_count() -> None:
    [line] = text_of([legend_line(WEIGHTS)])

    assert "i inflight" in line
    assert "f pending" not in line


def test_a_sheet_has_the_cell_its_meaning_and_the_whole_score() -> None:
    row = SCORES.row_of("inst-9004")

    title, lines = cell_sheet(row, Spot(instance_id=row.id, signal="inflight"), SCORES, WEIGHTS)
    text = "\n".join(text_of(lines))

    assert title == "inflight of inst-9004"
    assert "4 × 1 = 4, 58% of the score" in text
    assert "counted by: proxy_lifecycle" in text
    assert "behind inst-9001" in text
    assert "6.92 is the Proxy's own" in text


def test_decisions_tell_why_at_any_width() -> None:
    for is_wide in (False, True):
        columns = {column.key: column for column in decision_columns(is_wide=is_wide)}

        assert columns["reason"].rank == 0
        assert columns["reason"].text(decisions()[0]) == "lowest score"
        assert ("skipped" in columns) is is_wide
