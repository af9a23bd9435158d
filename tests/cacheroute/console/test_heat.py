"""The map of scores: totals are the Proxy's, parts sum up to them, and unknown is not 0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.amounts import render_score
from cacheroute.console.heat import (
    WeightProblem,
    cell_of,
    changes_told,
    in_few_cells,
    order_told,
    rank_text,
    read_weights,
    signals_of,
    tails,
    total_text,
)
from cacheroute.console.look import Look
from cacheroute.console.rows.scores import what_if
from cacheroute.console.score_map import of_look
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.console.scored import Loaded, instances, look_of
from tests.tui.fleet import WEIGHTS, drawn_fleet


@given(
    st.lists(instances(), min_size=1, max_size=12),
    st.builds(
        Weights,
        inflight=st.floats(0, 5),
        active_ready=st.floats(0, 5),
        predicted_total_backlog_ms=st.floats(0, 0.1),
        qps_1m=st.floats(0, 2),
    ),
)
def test_the_total_shown_is_the_proxys_for_every_instance(
    pool: list[Loaded], weights: Weights
) -> None:
    look = look_of(pool, weights)
    told = dict(zip(look.snapshot.ids, look.snapshot.instances.score, strict=True))  # type: ignore[arg-type]

    for row in of_look(look):
        assert row.score == told[row.id]
        assert total_text(row.score) == render_score(told[row.id])
        parts = [cell_of(row, signal).term for signal in signals_of(look.snapshot.weights)]
        weighted = sum(term.weighted or 0.0 for term in parts if term is not None)
        assert weighted / (row.share or 1.0) == pytest.approx(told[row.id])


@given(st.lists(instances(), min_size=1, max_size=12))
def test_a_what_if_under_the_proxys_weights_changes_nothing(
    pool: list[Loaded],
) -> None:
    look = look_of(pool, Weights())

    told = {term.signal for row in look.scores for term in row.terms}

    for row in what_if(look.scores, {n: w for n, w in look.snapshot.weights.items() if n in told}):
        assert row.what_if_score == pytest.approx(row.score)


def test_what_nobody_has_told_is_a_question_mark_and_0_is_a_dot() -> None:
    rows = {row.id: row for row in Look(snapshot=drawn_fleet(), url="").scores}

    assert cell_of(rows["inst-9003"], "active_ready").text == "?"
    assert cell_of(rows["inst-9003"], "active_ready").share_ratio is None
    assert cell_of(rows["inst-9001"], "active_prepare").text == "·"
    assert total_text(rows["inst-9003"].score) == "?"


def test_a_cell_is_as_dark_as_its_share_of_the_score() -> None:
    row = next(r for r in Look(snapshot=drawn_fleet(), url="").scores if r.id == "inst-9001")

    assert cell_of(row, "inflight").shade == "dark"
    assert cell_of(row, "active_ready").shade == "light"
    assert cell_of(row, "active_prepare").shade == "none"


def test_a_signal_whose_weight_is_0_shows_its_value_and_has_no_share() -> None:
    look = Look(snapshot=drawn_fleet(), url="")

    cell = cell_of(look.scores[0], "pending_prefill_count")

    assert cell.share_ratio is None
    assert signals_of(WEIGHTS)[-1] == "pending_prefill_count"


def test_ties_and_those_left_out_are_told() -> None:
    assert rank_text(1, {1: 1, 2: 2}) == "1"
    assert rank_text(2, {1: 1, 2: 2}) == "2="
    assert rank_text(None, {1: 1}) == "ex"


@pytest.mark.parametrize(
    ("value", "text"),
    [(3.0, "3.0"), (18.64, "18.6"), (0.001, "<.05"), (1_234.0, "1234"), (250_000.0, "250k")],
)
def test_a_small_value_is_never_written_as_0(value: float, text: str) -> None:
    assert in_few_cells(value) == text


@given(st.floats(1e-9, 1e8))
def test_a_value_has_few_cells(value: float) -> None:
    assert len(in_few_cells(value)) <= 7
    assert in_few_cells(value) not in ("0", "0.0")


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        (["inst-9001", "inst-9010"], ["9001", "9010"]),
        (["a-b-1", "a-c-1"], ["b-1", "c-1"]),
        (["one"], ["one"]),
        (["gpu", "gpu-2"], ["gpu", "gpu-2"]),
        ([], []),
    ],
)
def test_ids_are_shown_without_what_they_share(ids: list[str], shown: list[str]) -> None:
    assert tails(ids) == shown


def test_weights_are_read_by_any_name_that_is_clear() -> None:
    found = read_weights("infl=0.5, predicted=0.01 decode=2", WEIGHTS)

    assert found == {
        "inflight": 0.5,
        "predicted_total_backlog_ms": 0.01,
        "active_decode_count": 2.0,
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("inflight", "a weight is a number"),
        ("inflight=x", "a weight is a number"),
        ("inflight=-1", "not below 0"),
        ("inflight=nan", "finite"),
        ("active=1", "may be"),
        ("nothing=1", "no signal is called 'nothing'"),
    ],
)
def test_what_is_no_weight_is_told_in_words(text: str, told: str) -> None:
    with pytest.raises(WeightProblem, match=told):
        read_weights(text, WEIGHTS)


def test_a_what_if_says_the_order_and_whether_it_is_another() -> None:
    rows = Look(snapshot=drawn_fleet(), url="").scores

    same, is_other = order_told(what_if(rows, {"inflight": 2.0}))
    assert (same[0], is_other) == ("inst-9001", False)

    order, is_other = order_told(what_if(rows, {"inflight": 0.0, "active_ready": 0.0}))
    assert is_other
    assert sorted(order) == sorted(same)


def test_a_change_is_told_from_and_to() -> None:
    assert changes_told(WEIGHTS, {"inflight": 0.5}) == "inflight 1→0.5"
