"""What an operator sees of Instances, joined from two published replies."""

from typing import Any

import pytest

from cacheroute.console.rows.instances import INSTANCES, FleetRow, rows_of
from cacheroute.console.rows.states import SIGNS
from cacheroute.wire.debug import InstanceLoadsReply
from cacheroute.wire.instances import InstanceRow
from cacheroute_cli.tables import render_table
from tests.cacheroute.console.builders import a_row


def an_entry(instance_id: str = "i-1", **changes: Any) -> InstanceRow:
    fields: dict[str, Any] = {
        "instance_id": instance_id,
        "host": "127.0.0.1",
        "port": 9001,
        "registered_at": 1000,
        "last_seen_at": 1099,
        "is_alive": True,
        **changes,
    }
    return InstanceRow.model_validate(fields)


def loads_of(scores: dict[str, float | None], **changes: Any) -> InstanceLoadsReply:
    return InstanceLoadsReply.model_validate(
        {
            "ok": True,
            "ttl_s": 30,
            "generated_at": 1100.0,
            "instances": [
                {
                    "instance_id": name,
                    "is_alive": True,
                    "inflight": 3,
                    "least_load_score": {"total": score},
                }
                for name, score in scores.items()
            ],
            **changes,
        },
    )


def the_row(entry: InstanceRow, loads: InstanceLoadsReply | None = None) -> FleetRow:
    [row] = rows_of([entry], loads or loads_of({}))
    return row


def test_list_and_loads_are_joined_by_id() -> None:
    row = the_row(an_entry("i-1"), loads_of({"i-1": 4.9, "other": 1.0}))

    assert (row.id, row.inflight, row.score) == ("i-1", 3, 4.9)


def test_an_instance_without_a_load_keeps_what_the_list_says() -> None:
    row = the_row(an_entry(load={"inflight": 2}))

    assert (row.inflight, row.score) == (2, None)


def test_the_states_of_a_proxy_that_names_them_are_taken_over() -> None:
    assert the_row(an_entry(is_alive=False, state="stale", age_s=500)).state == "stale"
    assert the_row(an_entry(is_alive=False, state="dead", age_s=40)).state == "dead"


def test_a_proxy_that_only_knows_alive_has_its_states_told_by_silence() -> None:
    assert the_row(an_entry(is_alive=True, last_seen_at=0)).state == "alive"
    assert the_row(an_entry(is_alive=False, last_seen_at=1010)).state == "stale"
    assert the_row(an_entry(is_alive=False, last_seen_at=1009)).state == "dead"


def test_age_is_counted_by_the_proxys_clock() -> None:
    assert the_row(an_entry(last_seen_at=1098)).age_s == 2.0
    assert the_row(an_entry(last_seen_at=2000)).age_s == 0.0
    assert the_row(an_entry(age_s=0.4)).age_s == 0.4


def test_memory_is_a_share_and_unknown_without_a_whole() -> None:
    half = {"memory_used_mb": 512, "memory_total_mb": 1024}

    assert the_row(an_entry(resource=half)).memory_util == 50
    assert the_row(an_entry(resource={"memory_used_mb": 512})).memory_util is None
    assert the_row(an_entry(resource={**half, "memory_total_mb": 0})).memory_util is None


def test_a_gpu_at_rest_is_not_an_unknown_one() -> None:
    assert the_row(an_entry(resource={"gpu_util_avg": 0}, load={"gpu_util": 7})).gpu_util == 0
    assert the_row(an_entry(load={"gpu_util": 7})).gpu_util == 7
    assert the_row(an_entry()).gpu_util is None


def test_addresses_are_written_as_urls_have_them() -> None:
    assert the_row(an_entry(host="::1", port=9)).address == "[::1]:9"
    assert the_row(an_entry(base_path="/vllm")).address == "127.0.0.1:9001/vllm"


def test_alive_come_first_and_among_them_the_least_loaded() -> None:
    entries = [
        an_entry("dead", is_alive=False, state="dead"),
        an_entry("busy"),
        an_entry("unknown"),
        an_entry("free"),
        an_entry("stale", is_alive=False, state="stale"),
    ]

    rows = rows_of(entries, loads_of({"busy": 9.0, "free": 1.0, "dead": 0.0}))

    assert [row.id for row in rows] == ["free", "busy", "unknown", "stale", "dead"]


def test_the_table_fits_eighty_columns_and_tells_state_by_word_and_sign() -> None:
    entries = [
        an_entry(
            "inst-9001",
            age_s=0.4,
            resource={
                "cpu_util": 22.4,
                "memory_used_mb": 41,
                "memory_total_mb": 100,
                "gpu_util_avg": 63,
            },
        ),
        an_entry("inst-9002", draining=True, age_s=0.6),
        an_entry("inst-9003", is_alive=False, state="stale", age_s=41, resource={"cpu_util": 99}),
        an_entry("inst-9004", ejected_for_s=3.0, age_s=1.0),
        an_entry("inst-9010", is_alive=False, state="dead", age_s=123),
    ]
    rows = rows_of(entries, loads_of({"inst-9001": 4.9, "inst-9002": 6.92}))

    lines = render_table(INSTANCES.usual, rows, width=80, color=False)

    assert lines == [
        "  ID         ADDRESS         STATE    INFL  SCORE  CPU  MEM  GPU   AGE",
        "● inst-9001  127.0.0.1:9001  alive       3   4.90  22%  41%  63%  0.4s",
        "■ inst-9002  127.0.0.1:9001  drain 3     3   6.92    —    —    —  0.6s",
        "▲ inst-9004  127.0.0.1:9001  ejected     —      —    —    —    —  1.0s",
        "◐ inst-9003  127.0.0.1:9001  stale       —      —    —    —    —   41s",
        "✕ inst-9010  127.0.0.1:9001  dead        —      —    —    —    —  2m3s",
    ]


def test_queues_are_shown_where_something_queues_and_there_is_room() -> None:
    loads = loads_of({"i-1": 4.9})
    queued = loads.instances[0].model_copy(
        update={
            "prepare_queue_depth": 12,
            "ready_queue_depth": 0,
            "predicted_total_backlog_ms": 920.4,
        }
    )
    rows = rows_of([an_entry("i-1")], loads.model_copy(update={"instances": [queued]}))

    wide = render_table(INSTANCES.usual, rows, width=100, color=False)
    narrow = render_table(INSTANCES.usual, rows, width=76, color=False)

    assert wide[0].endswith("AGE  PREP  READY  BACKLOG")
    assert wide[1].endswith("    12      0     0.9s")
    assert narrow[0].endswith("AGE")
    assert (rows[0].prepare_queue_depth, rows[0].backlog_ms) == (12, 920.4)


def test_long_names_are_cut_to_eighty_columns() -> None:
    rows = rows_of([an_entry("instance-" + "x" * 200, host="h" * 100)], loads_of({}))

    lines = render_table(INSTANCES.usual, rows, width=80, color=False)

    assert all(len(line) <= 80 for line in lines)
    assert "…" in lines[1]


def test_every_column_says_what_it_means_and_every_sign_is_one_cell() -> None:
    assert all(column.doc.endswith(".") for column in INSTANCES.usual)
    assert all(len(sign) == 1 for sign in SIGNS.values())
    assert len({column.key for column in INSTANCES.usual}) == len(INSTANCES.usual)


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ({"origin": "static", "age_s": 90.0}, "alive"),
        ({"origin": "static", "age_s": 90.5}, "silent"),
        ({"origin": "registered", "age_s": 90.5}, "alive"),
        ({"origin": "static", "age_s": 90.5, "draining": True}, "drain"),
        ({"origin": "static", "age_s": 90.5, "ejected_for_s": 2.0}, "ejected"),
        ({"origin": "static", "age_s": 90.5, "is_alive": False, "state": "stale"}, "stale"),
    ],
)
def test_one_from_the_settings_that_answers_no_probe_is_not_shown_as_alive(
    entry: dict[str, Any], shown: str
) -> None:
    row = the_row(an_entry(**entry))

    assert row.shown == shown


def test_what_is_silent_is_alive_to_programs_and_filters_all_the_same() -> None:
    row = the_row(an_entry(origin="static", age_s=100.0))
    sign, state = INSTANCES.column("sign"), INSTANCES.column("state")

    assert (row.state, sign.text(row), state.text(row)) == ("alive", "○", "silent")
    assert state.matched is not None
    assert state.matched(row) == ("silent", "alive")
    assert state.tone is not None
    assert state.tone(row) == "warn"


def test_of_one_that_is_not_alive_no_measure_is_known() -> None:
    load = {"qps_1m": 1.0, "predicted_total_backlog_ms": 5.0, "least_load_score": {"total": 1.0}}
    row = a_row(is_alive=False, state="stale", resource={"cpu_util": 99}, load=load)

    assert (row.cpu_util, row.qps_1m, row.backlog_ms, row.score) == (None, None, None, None)


def test_a_proxy_that_tells_no_loads_still_has_its_list() -> None:
    [row] = rows_of([an_entry("a", load={"inflight": 2, "qps_1m": 0.5})], None)

    assert (row.inflight, row.qps_1m, row.score, row.age_s, row.state) == (
        2,
        0.5,
        None,
        None,
        "alive",
    )
    [gone] = rows_of([an_entry("a", is_alive=False)], None)
    assert gone.state == "dead"


def test_the_age_of_a_report_is_counted_by_the_proxys_clock() -> None:
    assert a_row(resource={"resource_reported_at": 1088}).report_age_s == 12
    assert a_row().report_age_s is None


def test_what_is_past_a_threshold_is_marked_by_a_sign_and_not_by_colour_alone() -> None:
    gpu = INSTANCES.column("gpu")
    over, high = a_row(resource={"gpu_util_avg": 97}), a_row(resource={"gpu_util_avg": 80})

    assert gpu.text(over) == "97%!"
    assert gpu.text(high) == "80%"
    assert gpu.tone is not None
    assert (gpu.tone(over), gpu.tone(high)) == ("bad", "warn")
