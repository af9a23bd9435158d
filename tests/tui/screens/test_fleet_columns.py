"""The columns of Instances on a screen: short, and a dash where nothing is known."""

import pytest

from cacheroute.console.history import History
from cacheroute.console.look import Look
from cacheroute_tui.screens.fleet_columns import _thinned, fleet_columns
from tests.tui.fleet import drawn_fleet

ROWS = {row.id: row for row in Look(snapshot=drawn_fleet(), url="").instances}


def told(instance_id: str, *, is_wide: bool = True, since_s: float = 0.0) -> dict[str, str]:
    history = History()
    columns = fleet_columns(
        is_wide=is_wide,
        trend_width=10,
        history=lambda: history,
        look=lambda: None,
        since_s=lambda: since_s,
        as_ascii=True,
    )
    return {column.key: column.text(ROWS[instance_id]) for column in columns}


def test_percents_have_no_sign_and_an_admission_is_short() -> None:
    found = told("inst-9007")

    assert (found["cpu_util"], found["gpu_util"]) == ("52", "97!")
    assert found["admission_state"] == "deg!"


def test_what_is_not_known_is_a_dash() -> None:
    found = told("inst-9010")

    for key in ("score", "cpu_util", "gpu_util", "backlog_ms", "admission_state"):
        assert found[key] == "—", key


def test_an_age_goes_on_with_the_time() -> None:
    assert told("inst-9003")["age_s"] == "41s"
    assert told("inst-9003", since_s=10.0)["age_s"] == "51s"


def test_a_trend_keeps_its_peaks_and_a_gap_only_where_nothing_is_known() -> None:
    gap = float("nan")

    assert _thinned([1.0, 5.0, gap, 2.0], 2) == [5.0, 2.0]
    assert _thinned([gap, gap, 3.0, 1.0], 2) == pytest.approx([gap, 3.0], nan_ok=True)
