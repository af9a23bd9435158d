"""Processes as rows: what is unknown is a dash, and ports can be searched for."""

from dataclasses import replace

from cacheroute.console.rows.processes import PROCESSES, ProcessRow

ROW = ProcessRow(
    name="instance-1", kind="instance", stack="demo", state="running", ready=True, pid=7,
    restarts=2, uptime_s=61.0, cpu_percent=12.4, rss_mb=2048.0,
    ports={"service": 8001, "control": 8002}, urls={}, last_exit=-9, why=None, log="/l", argv=(),
)  # fmt: skip


def text(row: ProcessRow, key: str) -> str:
    return PROCESSES.column(key).text(row)


def test_a_process_is_written_for_people() -> None:
    assert [text(ROW, column.key) for column in PROCESSES.usual] == [
        "instance-1", "instance", "7", "running", "yes", "2", "1m1s", "12%", "2.0G", "8001 8002",
        "signal 9",
    ]  # fmt: skip
    assert text(ROW, "last_exit") == "-9"


def test_what_nobody_knows_is_a_dash() -> None:
    row = replace(ROW, pid=None, ready=None, cpu_percent=None, ports={}, last_exit=None)

    assert {text(row, key) for key in ("pid", "ready", "cpu_percent", "ports", "last_exit")} == {
        "—"
    }


def test_a_state_that_is_bad_looks_it() -> None:
    tone = PROCESSES.column("state").tone
    assert tone is not None

    tones = [tone(replace(ROW, state=state)) for state in ("running", "failed", "stopped")]
    assert tones == ["good", "bad", "dim"]
    ready = PROCESSES.column("ready").tone
    assert ready is not None
    assert ready(replace(ROW, ready=False)) == "warn"


def test_how_one_that_was_started_again_had_ended_is_told_unless_something_is_wrong_now() -> None:
    assert text(replace(ROW, last_exit=3), "why") == "exit 3"
    assert text(replace(ROW, why="not in the pool"), "why") == "not in the pool"
    assert text(replace(ROW, restarts=0), "why") == "—"
    assert text(replace(ROW, last_exit=None), "why") == "—"
