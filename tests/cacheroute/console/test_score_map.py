"""The map of scores says of each Instance what the list says, and makes only what is seen."""

from collections.abc import Collection, Mapping

from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.look import Look
from cacheroute.console.rows.scores import ScoreRow, difference
from cacheroute.console.score_map import ScoreMap, of_look, of_rows
from cacheroute.core.routing.weights import Weights
from tests.cacheroute.console.scored import Loaded, instances, look_of
from tests.tui.fleet import big_fleet, drawn_fleet


def drawn() -> Look:
    return Look(snapshot=drawn_fleet(), url="")


@given(st.lists(instances(), max_size=12))
def test_a_map_is_the_list_of_all_scores(pool: list[Loaded]) -> None:
    look = look_of(pool, Weights())

    scores = of_look(look)

    assert [(row.id, row.score, row.rank, row.behind) for row in scores] == [
        (row.id, row.score, row.rank, row.behind) for row in look.scores
    ]
    assert list(scores.scores) == [row.score for row in look.scores]


def test_those_left_out_come_last_by_name_with_the_reason() -> None:
    scores = of_look(drawn())

    assert list(scores) == list(drawn().scores)
    assert scores.ids[-3:] == ["inst-9003", "inst-9005", "inst-9010"]
    assert scores[-2].excluded == "draining (2 left)"
    assert (scores.inside, scores.best) == (5, 4.9)


def test_a_map_of_the_choice_has_nobody_else() -> None:
    scores = of_look(drawn(), is_all=False)

    assert len(scores) == 5
    assert None not in scores.ranks


def test_only_what_is_seen_is_made() -> None:
    asked: list[Collection[str]] = []
    rows = {row.id: row for row in Look(snapshot=big_fleet(50), url="").scores}

    def make(ids: Collection[str]) -> Mapping[str, ScoreRow]:
        asked.append(ids)
        return {id_: rows[id_] for id_ in ids}

    scores = ScoreMap(list(rows), [0.0] * 50, [1] * 50, make)
    scores.prefetch(range(3, 6))
    assert scores[4].id == list(rows)[4]
    scores.prefetch(range(4, 7))

    assert [len(ids) for ids in asked] == [3, 1]


def test_a_difference_is_told_from_the_first() -> None:
    scores = of_look(drawn())
    row = scores.row_of("inst-9004")

    assert difference(row, scores.with_first(row)) == difference(row, drawn().scores)
    first = scores.row_of("inst-9001")
    assert scores.with_first(first) == [first]


def test_equals_share_a_place_and_know_each_other() -> None:
    scores = of_look(Look(snapshot=big_fleet(1_000), url=""))
    first = scores[0]

    assert scores.ties()[1] == 6
    assert len(scores.tied_with(first)) == 5
    assert first.id not in scores.tied_with(first)


def test_a_map_of_rows_is_those_rows() -> None:
    rows = list(drawn().scores)

    assert list(of_rows(rows)) == rows
    assert of_rows(rows)[1:3] == rows[1:3]
    assert len(of_rows(())) == 0
    assert of_rows(()).best is None
