"""The columns of Instances on a screen: short, and never 0 where nothing is known."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from msgspec import structs

from cacheroute.console.columns import Column
from cacheroute.console.first_tokens import FirstToken
from cacheroute.console.history import History
from cacheroute.console.look import Look
from cacheroute.console.rows.instances import FleetRow
from cacheroute.console.store import Seen
from cacheroute.core.clock import Instant
from cacheroute_tui.screens.fleet_columns import _thinned, fleet_columns
from tests.tui.fleet import drawn_fleet

ROWS = {row.id: row for row in Look(snapshot=drawn_fleet(), url="").instances}


def columns(
    *, is_wide: bool = True, since_s: float = 0.0, seen: Seen | None = None
) -> Sequence[Column[FleetRow]]:
    history = History()
    return fleet_columns(
        is_wide=is_wide,
        trend_width=10,
        history=lambda: history,
        look=lambda: seen,
        since_s=lambda: since_s,
        as_ascii=True,
    )


def told(
    instance_id: str, *, is_wide: bool = True, since_s: float = 0.0, seen: Seen | None = None
) -> dict[str, str]:
    found = columns(is_wide=is_wide, since_s=since_s, seen=seen)
    return {column.key: column.on_screen(ROWS[instance_id]) for column in found}


def test_percents_have_no_sign_and_an_admission_is_short() -> None:
    found = told("inst-9007")

    assert (found["cpu_util"], found["gpu_util"]) == ("52", "97!")
    assert found["admission_state"] == "deg!"


def test_what_is_not_known_is_a_question_mark_and_what_is_not_there_a_dash() -> None:
    found = told("inst-9010")

    for key in ("cpu_util", "gpu_util", "admission_state"):
        assert found[key] == "?", key
    assert found["network"] == "?/?"
    for key in ("score", "backlog_ms", "prepare_queue_depth", "ttft_p95"):
        assert found[key] == "—", key


@pytest.mark.parametrize(
    ("rx_mbps", "tx_mbps", "told_as"),
    [
        (412.3, 51.0, "412/51"),
        (9.96, 9.4, "10/9.4"),
        (0.0, 0.1, "0.0/0.1"),
        (12_000, None, "12000/?"),
    ],
)
def test_what_a_host_receives_and_sends_stands_in_one_column_with_its_unit(
    rx_mbps: float, tx_mbps: float | None, told_as: str
) -> None:
    row = replace(ROWS["inst-9001"], network_rx_mbps=rx_mbps, network_tx_mbps=tx_mbps)
    network = next(column for column in columns() if column.key == "network")

    assert (network.header, network.on_screen(row)) == ("RX/TX Mbps", told_as)


def test_a_trend_and_what_an_age_decides_move_on_though_nothing_else_is_new() -> None:
    assert {column.key for column in columns() if column.ages} == {
        "sign", "state", "trend", "age_s",
    }  # fmt: skip


def test_an_age_goes_on_with_the_time() -> None:
    assert told("inst-9003")["age_s"] == "41s"
    assert told("inst-9003", since_s=10.0)["age_s"] == "51s"


def test_a_trend_keeps_its_peaks_and_a_gap_only_where_nothing_is_known() -> None:
    gap = float("nan")

    assert _thinned([1.0, 5.0, gap, 2.0], 2) == [5.0, 2.0]
    assert _thinned([gap, gap, 3.0, 1.0], 2) == pytest.approx([gap, 3.0], nan_ok=True)


def test_a_first_token_comes_from_the_requests_that_told_it() -> None:
    taken = Instant(mono_s=1.0, wall_s=1.0)
    first_tokens = {"inst-9001": FirstToken(p95_ms=310.2, requests=20)}
    look = Look(snapshot=drawn_fleet(), url="")
    seen = Seen(look=look, taken=taken, first_tokens=first_tokens)

    assert told("inst-9001", seen=seen)["ttft_p95"] == "310ms"
    assert told("inst-9002", seen=seen)["ttft_p95"] == "—"
    assert "ttft_p95" not in told("inst-9001", is_wide=False)


def test_the_letters_of_all_rows_have_the_scale_of_the_highest_score() -> None:
    document = drawn_fleet()
    many = [30, 40, *[1] * 6]
    columns = structs.replace(document.instances, inflight=many, score=[float(n) for n in many])
    look = Look(snapshot=structs.replace(document, instances=columns), url="")
    seen = Seen(look=look, taken=Instant(mono_s=1.0, wall_s=1.0))

    lowest, highest = (told(one, seen=seen)["parts"] for one in ("inst-9001", "inst-9004"))
    assert lowest.count("i") < highest.count("i")
