"""Requests as lanes of rooms, predicted beside actual, and what the links to knowledge did."""

from dataclasses import replace

import pytest

from cacheroute.console.slots import (
    cell_of,
    lanes_of,
    letters_of,
    paths_of,
    scale_of,
    transfers_of,
)
from tests.tui.fleet import WALL_S
from tests.tui.requests import request, requests


def test_lanes_are_the_newest_of_one_instance() -> None:
    lanes = lanes_of(requests(), "inst-9007", 3)

    assert [lane.row.request_id for lane in lanes] == ["r-0000", "r-0002", "r-0004"]


def test_lanes_of_nobody_in_particular_are_of_all() -> None:
    assert len(lanes_of(requests(), None, 5)) == 5


def test_a_prediction_counts_from_the_choice_of_the_instance() -> None:
    lane = lanes_of([request(0, "i-1")], "i-1", 1)[0]

    # It was placed a millisecond after its arrival.
    assert lane.predicted_ms == 151.0
    assert lane.first_token_ms == 146.0


def test_a_request_without_a_prediction_has_no_mark() -> None:
    lane = lanes_of([request(0, "i-1", None)], "i-1", 1)[0]

    assert lane.predicted_ms is None
    assert cell_of(lane.predicted_ms, 40, 200.0) is None


def test_every_room_is_drawn_in_order_however_short() -> None:
    lane = lanes_of([request(0, "i-1")], "i-1", 1)[0]

    drawn = letters_of(lane, 200, 200.0)

    assert len(drawn) == 200
    assert "".join(dict.fromkeys(drawn)) == ".qprfd"


def test_rooms_within_a_room_are_not_drawn_twice() -> None:
    lane = lanes_of([request(0, "i-1")], "i-1", 1)[0]

    assert "inject" not in [span.room for span in lane.rooms]


def test_all_first_tokens_are_within_the_drawing() -> None:
    lanes = lanes_of(requests(), "inst-9001", 8)

    scale_ms = scale_of(lanes)

    for lane in lanes:
        assert cell_of(lane.first_token_ms, 40, scale_ms) is not None


def test_nothing_at_all_has_a_scale_too() -> None:
    assert scale_of([]) == 1.0


def test_paths_are_counted_and_requests_without_knowledge_are_not() -> None:
    assert paths_of(requests(9)) == {"kv_inject": 3, "text_inject": 3}


def test_a_link_is_busy_while_any_transfer_goes_on() -> None:
    one = request(0, "i-1")
    other = replace(one, request_id="r-x")

    alone = transfers_of([one], now_s=WALL_S + 1, over_s=60.0)
    both = transfers_of([one, other], now_s=WALL_S + 1, over_s=60.0)

    assert alone.busy_ratio == pytest.approx(0.012 / 60, rel=1e-3)
    assert both.busy_ratio == pytest.approx(alone.busy_ratio)
    assert (both.count, both.took_ms, both.predicted_ms) == (2, 12.0, 11.0)


def test_transfers_of_long_ago_do_not_count() -> None:
    found = transfers_of([request(0, "i-1")], now_s=WALL_S + 600, over_s=60.0)

    assert (found.count, found.busy_ratio, found.took_ms) == (0, 0.0, None)
