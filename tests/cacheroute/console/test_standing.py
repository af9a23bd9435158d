"""How one Instance stands in the choice, and that its parts add up to the Proxy's total."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed

from cacheroute.console.look import Look
from cacheroute.console.standing import (
    letters_of,
    place_word,
    points_of,
    scale_of,
    standing_of,
    why_not_chosen,
)
from tests.tui.fleet import big_fleet, drawn_fleet


def look() -> Look:
    return Look(snapshot=drawn_fleet(), url="u")


def test_the_second_knows_its_rank_and_what_puts_it_behind() -> None:
    found = standing_of("inst-9004", look())

    assert found is not None
    assert (found.rank, found.of) == (2, 5)
    assert found.behind is not None
    assert found.behind.startswith("behind inst-9001: infl +1")


def test_the_first_is_behind_nobody() -> None:
    found = standing_of("inst-9001", look())

    assert found is not None
    assert found.rank == 1
    assert found.behind is None


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ("inst-9005", "draining (2 left)"),
        ("inst-9003", "last seen > ttl"),
        ("inst-9010", "expired"),
        ("inst-9001", None),
    ],
)
def test_who_is_not_in_the_choice_has_no_rank_and_a_reason(who: str, why: str | None) -> None:
    row = next(row for row in look().instances if row.id == who)
    found = standing_of(who, look())

    assert why_not_chosen(row) == why
    assert found is not None
    assert (found.rank is None) == (why is not None)


def test_nothing_is_told_of_a_stranger() -> None:
    assert standing_of("nobody", look()) is None
    assert points_of("nobody", look()) == {}


def test_a_rank_is_the_one_of_the_whole_list() -> None:
    whole = Look(snapshot=big_fleet(60), url="u")
    rank_of = {row.id: row.rank for row in whole.scores}

    for row in whole.instances[::7]:
        found = standing_of(row.id, whole)
        assert found is not None
        assert found.rank == rank_of[row.id]


def test_the_parts_of_every_score_add_up_to_its_total() -> None:
    whole = look()
    for row in whole.instances:
        if row.state == "alive" and row.score is not None and row.id != "inst-9007":
            # The drawn pool rounds its totals to a hundredth.
            assert sum(points_of(row.id, whole).values()) == pytest.approx(row.score, abs=0.6)


def test_letters_stand_for_points_and_never_need_more_room() -> None:
    points = {"inflight": 4.0, "active_prepare": 1.0, "predicted_total_backlog_ms": 0.92}

    assert letters_of(points, 20) == "iiii p b"
    assert letters_of({}, 20) == ""


@given(
    st.dictionaries(
        st.sampled_from(["inflight", "active_prepare", "active_ready", "qps_1m", "else"]),
        st.floats(0, 1e6),
    ),
    st.integers(1, 30),
)
def test_a_bar_of_parts_keeps_to_its_width(points: dict[str, float], width: int) -> None:
    assert len(letters_of(points, width)) <= width


def test_a_pool_without_scores_has_no_ranks() -> None:
    snapshot = drawn_fleet()
    columns = changed(snapshot.instances, score=None)
    found = standing_of("inst-9001", Look(snapshot=changed(snapshot, instances=columns), url="u"))

    assert found is not None
    assert found.rank is None
    assert found.of == 0


def test_rows_that_are_compared_have_one_scale() -> None:
    highest = {"inflight": 20.0, "active_ready": 20.0}
    scale = scale_of(highest, 20)

    assert letters_of(highest, 20, scale=scale) == "iiiiiiiii rrrrrrrrr"
    assert letters_of({"inflight": 10.0}, 20, scale=scale) == "iiii"
    assert scale_of({"inflight": 4.0}, 20) == 1.0
    assert scale_of({}, 20) == 1.0


def test_a_place_is_a_rank_only_where_scores_choose() -> None:
    assert place_word("least_load") == "rank"
    assert place_word("round_robin") == place_word(None) == "by score"
