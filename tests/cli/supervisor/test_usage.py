"""CPU and memory by session, from a made-up /proc and from the real one."""

import os
from pathlib import Path

import pytest

from cacheroute_cli.supervisor.usage import Meter, Usage, usage_by_session


def a_stat(folder: Path, pid: int, *, session: int, utime: int, rss: int, name: str = "x") -> None:
    fields = ["S", "1", "1", str(session), *["0"] * 7, str(utime), "0", *["0"] * 8, str(rss), "0"]
    (folder / str(pid)).mkdir()
    (folder / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")


def test_everything_of_a_session_is_added_up(tmp_path: Path) -> None:
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    a_stat(tmp_path, 10, session=10, utime=3 * ticks, rss=5)
    a_stat(tmp_path, 11, session=10, utime=ticks, rss=2, name="a) b")
    a_stat(tmp_path, 20, session=20, utime=0, rss=1)
    (tmp_path / "30").mkdir()

    assert usage_by_session(proc=tmp_path) == {
        10: Usage(cpu_s=4.0, rss_bytes=7 * page),
        20: Usage(cpu_s=0.0, rss_bytes=page),
    }


def test_percent_is_known_from_the_second_look_on() -> None:
    meter = Meter()
    meter.look({1: Usage(cpu_s=1.0, rss_bytes=100)}, 10.0)
    assert (meter.cpu_percent(1), meter.rss_bytes(1)) == (None, 100)

    meter.look({1: Usage(cpu_s=2.5, rss_bytes=90), 2: Usage(cpu_s=1.0, rss_bytes=1)}, 15.0)
    assert meter.cpu_percent(1) == pytest.approx(30.0)
    assert meter.rss_bytes(1) == 90
    assert meter.cpu_percent(2) is None
    assert meter.rss_bytes(3) is None


def test_a_child_that_has_ended_takes_nothing_below_zero() -> None:
    meter = Meter()
    meter.look({1: Usage(cpu_s=9.0, rss_bytes=1)}, 1.0)
    meter.look({1: Usage(cpu_s=2.0, rss_bytes=1)}, 2.0)

    assert meter.cpu_percent(1) == 0.0


def test_this_very_session_uses_memory() -> None:
    usage = usage_by_session()[os.getsid(0)]

    assert usage.rss_bytes > 1024 * 1024
    assert usage.cpu_s > 0
