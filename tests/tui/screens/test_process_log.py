"""The lines that are kept, and those of them that are wanted."""

from dataclasses import replace
from pathlib import Path

from cacheroute.console.patterns import Expression
from cacheroute_cli.supervisor.log_lines import LogLine
from cacheroute_tui.screens.process_log import MAX_KEPT_LINES, ProcessLog, painted
from tests.tui.screens.requests import process


def lines(*texts: str, log: str = "/nowhere/proxy.log") -> list[LogLine]:
    return [LogLine(at_s=5.0, name="proxy", text=text, log=Path(log)) for text in texts]


def texts_of(log: ProcessLog) -> list[str]:
    return [spans[-1].text for spans in log.wanted]


def test_as_many_are_kept_as_there_is_room_for_and_those_that_go_are_wanted_no_more() -> None:
    log = ProcessLog()
    log.choose(only=None, grep=Expression("odd"))
    log.keep(painted(lines(*(f"{'odd' if at % 2 else 'even'} {at}" for at in range(6_000)))))
    log.keep(painted(lines(*["odd new"] * 10)))

    found = texts_of(log)
    assert len(found) == MAX_KEPT_LINES // 2 + 5
    assert (found[0], found[-1]) == ("odd 1011", "odd new")


def test_of_two_of_one_name_the_one_that_writes_there_is_wanted() -> None:
    here, there = (replace(process("proxy"), pid=pid, log=f"/{pid}/proxy.log") for pid in (11, 12))
    log = ProcessLog()
    log.keep(painted(lines("of 11", log="/11/proxy.log") + lines("of 12", log="/12/proxy.log")))
    log.choose(only=there, grep=None)
    log.keep(
        painted(lines("11 again", log="/11/proxy.log") + lines("12 again", log=there.log or ""))
    )

    assert texts_of(log) == ["of 12", "12 again"]
    assert log.is_only(replace(there, pid=99))
    assert not log.is_only(here)
    log.choose(only=None, grep=None)
    assert len(texts_of(log)) == 4


def test_a_line_is_painted_without_colours_of_others_and_cut() -> None:
    [one] = painted(lines("\x1b[31mred\x1b[0m\tx\x07"))

    assert [span.text for span in one.spans][1:] == ["proxy            ", "red    x\\x07"]
