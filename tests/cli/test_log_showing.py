"""Which logs, and from when on."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.log_showing import logs_of, read_since
from cacheroute_cli.supervisor.faults import NoSuchProcess
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome

NOW = datetime(2030, 5, 4, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("90s", timedelta(seconds=90)),
        ("1.5h", timedelta(minutes=90)),
        ("500ms", timedelta(seconds=0.5)),
        ("2d", timedelta(days=2)),
        ("11:30", timedelta(minutes=30)),
        ("11:59:30", timedelta(seconds=30)),
        ("13:00", timedelta(hours=23)),
        ("2030-05-04T10:00", timedelta(hours=2)),
        ("2030-05-04T13:00+02:00", timedelta(hours=1)),
    ],
)
def test_a_time_is_a_span_a_clock_or_a_date(text: str, ago: timedelta) -> None:
    assert read_since(text, NOW) == NOW - ago


@pytest.mark.parametrize("text", ["yesterday", "10", "25:00", "", "-1s", "1 h"])
def test_what_is_no_time_is_told_with_what_would_do(text: str) -> None:
    with pytest.raises(UsageFault, match="write 10m, 2h, 14:30"):
        read_since(text, NOW)


@pytest.mark.parametrize("text", ["999999d", "99999999999d", "9" * 400 + "s"])
def test_a_span_from_before_all_time_is_told(text: str) -> None:
    with pytest.raises(UsageFault, match="is longer ago than any time there is"):
        read_since(text, NOW)


def test_logs_are_found_by_process_or_kind_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    home = StackHome("s", tmp_path)
    home.prepare()
    for name in ("i-10", "i-9", "proxy"):
        home.log_of(name).write_text("")
        kind = "instance" if name.startswith("i-") else "proxy"
        home.write_process(ProcessStatus(name=name, kind=kind, stack="s", state="running"))
    home.log_of("i-9").with_name("i-9.log.1").write_text("")

    assert list(logs_of(home, ())) == ["i-9", "i-10", "proxy"]
    assert list(logs_of(home, ("proxy", "instances"))) == ["proxy", "i-9", "i-10"]
    with pytest.raises(NoSuchProcess, match="no log of 'x'; there are i-9, i-10, proxy"):
        logs_of(home, ("x",))
