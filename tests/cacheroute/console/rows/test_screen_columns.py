"""Columns of a screen by name: those of the list, those that are drawn, and those unheard of."""

from cacheroute.console.rows.screen_columns import DRAWN, sorted_out


def test_columns_are_found_by_any_of_their_names_and_follow_the_sign() -> None:
    found = sorted_out(["ID", "infl", "gpu", "trend"])

    assert found.keys == ("sign", "id", "inflight", "gpu_util", "trend")
    assert found.problems == ()


def test_the_sign_stays_where_it_was_put() -> None:
    assert sorted_out(["id", "sign"]).keys == ("id", "sign")


def test_a_column_that_is_not_there_is_said_with_the_nearest() -> None:
    found = sorted_out(["sate", "id"])

    assert found.keys == ("sign", "id")
    assert found.problems == ("Instances have no column 'sate'; did you mean state?",)


def test_a_name_like_no_other_lists_all() -> None:
    [problem] = sorted_out(["§"]).problems

    assert all(name in problem for name in ("inflight", *DRAWN))


def test_nothing_is_the_usual_ones() -> None:
    assert sorted_out([]).keys == ()
