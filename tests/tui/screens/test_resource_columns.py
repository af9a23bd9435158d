"""The columns of hosts: short, aligned, and `?` where nobody has reported."""

from dataclasses import replace

from cacheroute.console.cells import UNTOLD
from cacheroute.console.look import Look
from cacheroute.console.rows.resources import ResourceRow
from cacheroute.console.rules import RULES
from cacheroute_tui.screens.resource_columns import resource_columns
from tests.tui.fleet import drawn_fleet

LOOK = Look(snapshot=drawn_fleet(), url="")
FLEET = {row.id: row for row in LOOK.instances}


def told(row: ResourceRow, *, bar_cells: int = 0, since_s: float = 0.0) -> dict[str, str]:
    columns = resource_columns(
        is_wide=True,
        bar_cells=bar_cells,
        fleet_row=FLEET.get,
        since_s=lambda: since_s,
        rules=RULES,
        as_ascii=True,
    )
    return {column.key: column.text(row) for column in columns}


def row_of(instance_id: str) -> ResourceRow:
    return next(row for row in LOOK.resources if row.id == instance_id)


def test_figures_are_short_and_marked_past_their_threshold() -> None:
    found = told(row_of("inst-9007"))

    assert (found["cpu_util"], found["gpu_util"], found["admission_state"]) == (
        "52", "97!", "deg!",
    )  # fmt: skip
    assert (found["sign"], found["state"]) == ("●", "alive")


def test_what_nobody_has_reported_is_a_question_mark() -> None:
    found = told(row_of("inst-9010"))

    for key in ("cpu_util", "gpu_util", "network_rx_mbps", "gpu_sample_quality"):
        assert found[key] == UNTOLD
    assert found["state"] == "dead"


def test_an_age_goes_on_with_the_time() -> None:
    assert told(row_of("inst-9001"))["report_age_s"] == "0.4s"
    assert told(row_of("inst-9001"), since_s=30.0)["report_age_s"] == "30s"


def test_bars_have_their_figure_before_them() -> None:
    assert told(row_of("inst-9001"), bar_cells=10)["memory_util"] == "  41 ####......"
    assert told(row_of("inst-9010"), bar_cells=10)["memory_util"] == "   ? ?         "


def test_an_instance_that_only_the_resources_know_has_no_state() -> None:
    columns = resource_columns(
        is_wide=False, bar_cells=0, fleet_row=lambda _: None, since_s=lambda: 0.0, rules=RULES,
        as_ascii=False,
    )  # fmt: skip

    assert [column.text(row_of("inst-9001")) for column in columns[:3]] == ["?", "inst-9001", "?"]


def test_a_fast_network_is_written_in_full() -> None:
    row = replace(row_of("inst-9001"), network_rx_mbps=98_765.4)

    assert told(row)["network_rx_mbps"] == "98765"
