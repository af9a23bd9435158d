"""A score is the Proxy's; its parts, its rank and what would be are told beside it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.console.rows.scores import (
    SCORES,
    ScoreRow,
    UnknownSignal,
    difference,
    explained,
    parts_of,
    score_rows,
    what_if,
)
from tests.cacheroute.console.builders import an_entry, some_loads

WEIGHTS = {"inflight": 1.0, "active_ready": 1.0, "qps_1m": 0.0}


def a_load(instance_id: str, total: float | None, **signals: float) -> dict[str, Any]:
    return {
        "instance_id": instance_id,
        "inflight": 2,
        "least_load_score": {
            "total": total,
            "components": signals,
            "weighted_components": {k: v * WEIGHTS[k] for k, v in signals.items() if WEIGHTS[k]},
            "source": dict.fromkeys(signals, "proxy"),
            "weights": WEIGHTS,
        },
    }


def rows(*loads: dict[str, Any], **entries: dict[str, Any]) -> list[ScoreRow]:
    told = [an_entry(load["instance_id"], **entries.get(load["instance_id"], {})) for load in loads]
    return score_rows(told, some_loads(*loads))


TWO = (a_load("b", 6.0, inflight=4.0, active_ready=2.0, qps_1m=9.0), a_load("a", 3.0, inflight=3.0))


def test_the_least_loaded_ranks_first_and_the_next_is_behind_it() -> None:
    first, second = rows(*TWO)

    assert (first.id, first.rank, first.behind) == ("a", 1, None)
    assert (second.id, second.rank, second.behind) == ("b", 2, "a")
    assert difference(second, [first, second]) == "behind a: infl +1, released +2"
    assert difference(first, [first, second]) is None


def test_equals_share_a_rank() -> None:
    found = rows(a_load("a", 3.0, inflight=3.0), a_load("b", 3.0, inflight=3.0), a_load("c", 4.0))

    assert [(row.id, row.rank, row.behind) for row in found] == [
        ("a", 1, None),
        ("b", 1, None),
        ("c", 3, "a"),
    ]


def test_parts_are_the_signals_that_count_times_their_weights() -> None:
    first, second = rows(*TWO)

    assert parts_of(second) == "infl 4×1 + released 2×1"
    assert parts_of(first) == "infl 3×1"
    assert parts_of(rows(a_load("a", 0.0, inflight=0.0))[0]) == "0"
    assert parts_of(rows(a_load("a", None))[0]) == "—"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"draining": True}, "draining (2 left)"),
        ({"ejected_for_s": 3.0}, "failed lately, rests for 3.0s"),
        ({"weight": 0}, "its weight is 0"),
    ],
)
def test_who_is_not_in_the_choice_says_why_and_has_no_rank(entry: dict[str, Any], why: str) -> None:
    [row] = rows(a_load("a", 3.0, inflight=3.0), a=entry)

    assert (row.excluded, row.rank) == (why, None)
    assert SCORES.column("parts").text(row) == why


def test_who_is_gone_is_not_in_the_choice() -> None:
    stale = {"is_alive": False, "state": "stale"}
    load = a_load("a", 3.0, inflight=3.0) | {"is_alive": False}

    assert rows(load, a=stale)[0].excluded == "last seen more than its time to live ago"
    assert rows(load, a={"is_alive": False, "state": "dead"})[0].excluded == "expired"
    assert score_rows([], some_loads(load))[0].excluded == "expired"
    assert rows(a_load("a", None))[0].excluded == "no signal is known"


def test_a_score_is_written_out_part_by_part() -> None:
    found = rows(*TWO, b={"weight": 2.0})
    head, *parts = explained(found[1], found)

    assert (head.label, head.facts) == ("score", ("b", "6.00", "rank 2"))
    assert [part.facts[0].split() for part in parts] == [
        ["inflight", "4", "×", "1", "=", "4", "proxy"],
        ["active_ready", "2", "×", "1", "=", "2", "proxy"],
        ["qps_1m", "9", "×", "0", "=", "0", "proxy"],
        ["divided", "by", "its", "weight", "2"],
        ["behind", "a:", "infl", "+1,", "released", "+2"],
    ]


def test_a_what_if_weighs_the_same_signals_anew_and_leaves_the_score_alone() -> None:
    found = what_if(rows(*TWO), {"active_ready": 0.0, "inflight": 0.5})

    assert [(row.id, row.score, row.what_if_score, row.what_if_rank) for row in found] == [
        ("a", 3.0, 1.5, 1),
        ("b", 6.0, 2.0, 2),
    ]
    assert "what-if, worked out here: 2.00, rank 2" in explained(found[1], found)[-1].facts


def test_a_what_if_with_a_signal_that_nobody_tells_is_refused() -> None:
    with pytest.raises(UnknownSignal, match="'inflght'; did you mean 'inflight'"):
        what_if(rows(*TWO), {"inflght": 1.0})


def test_a_what_if_for_one_that_is_out_stays_unknown() -> None:
    [row] = what_if(rows(a_load("a", 3.0, inflight=3.0), a={"draining": True}), {"inflight": 2.0})

    assert (row.what_if_score, row.what_if_rank) == (None, None)


@given(
    st.floats(0, 1e6),
    st.dictionaries(st.sampled_from(sorted(WEIGHTS)), st.floats(0, 1e6), min_size=1),
)
def test_the_score_shown_is_always_the_proxys_total(
    total: float, signals: dict[str, float]
) -> None:
    [row] = rows(a_load("a", total, **signals))

    assert row.score == total
    assert explained(row, [row])[0].facts[1] == f"{total:.2f}"


@given(st.dictionaries(st.sampled_from(sorted(WEIGHTS)), st.floats(0, 1e3), min_size=1))
def test_a_what_if_with_the_proxys_own_weights_is_the_proxys_total(
    signals: dict[str, float],
) -> None:
    total = sum(value * WEIGHTS[name] for name, value in signals.items())
    [row] = what_if(rows(a_load("a", total, **signals)), {name: WEIGHTS[name] for name in signals})

    assert row.what_if_score == pytest.approx(total)
