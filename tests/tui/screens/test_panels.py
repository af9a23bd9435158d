"""What screens share: the pool in a line, alerts in the room there is, and one score as a sum."""

from cacheroute.console.alerts import Alert
from cacheroute.console.history import History
from cacheroute.console.look import Look
from cacheroute.console.rules import RULES
from cacheroute.console.store import Beside, Seen
from cacheroute_tui.screens.panels import (
    alert_count,
    in_order,
    instance_title,
    load_line,
    score_line,
    summary_line,
)
from cacheroute_tui.widgets.lines import TextLine
from tests.tui.fleet import StillClock, drawn_fleet

SEEN = Seen(
    look=Look(snapshot=drawn_fleet(), url="u"),
    taken=StillClock().now(),
    beside=Beside(),
    rules=RULES,
    before=None,
)


def text_of(line: TextLine) -> str:
    return "".join(span.text for span in line)


def test_the_pool_is_a_line_that_a_narrow_terminal_holds() -> None:
    line = text_of(summary_line(SEEN))

    assert line.startswith(" 8 inst ")
    assert "infl 31  prep 4 rdy 9  least_load  sched ●" in line
    assert len(line) <= 79


def test_in_little_room_states_and_alerts_outlast_the_rest() -> None:
    without_strategy, least = (text_of(summary_line(SEEN, width)) for width in (70, 50))

    assert "prep 4 rdy 9  sched ●" in without_strategy
    assert "infl 31  sched ●" in least
    for line in (without_strategy, least):
        assert line.endswith("no alerts")


def test_alerts_are_counted_in_a_word() -> None:
    stale = Alert(
        kind="stale", severity="warn", instance_id="i-1", message="i-1 is stale", value=None,
        threshold=None, unit="", since=None,
    )  # fmt: skip

    assert text_of(alert_count([stale])) == "▲1 alert"
    assert text_of(alert_count([stale, stale])) == "▲2 alerts"
    assert text_of(alert_count([])) == "no alerts"


def test_those_that_may_be_chosen_come_before_the_stale_and_the_dead() -> None:
    ids = [row.id for row in in_order(SEEN)]

    assert ids[0] == "inst-9001"
    assert set(ids[-2:]) == {"inst-9003", "inst-9010"}


def test_an_instance_is_named_with_its_place_and_its_score_is_a_sum() -> None:
    title = instance_title(SEEN, "inst-9004")

    assert title.startswith("inst-9004 · rank 2/5 · behind inst-9001: infl +1")
    assert text_of(score_line(SEEN, "inst-9004")).startswith(" score 6.92 = infl 4×1")
    assert "nothing is known to weigh" in text_of(score_line(SEEN, "inst-gone"))


def test_what_a_dead_host_does_is_unknown() -> None:
    line = text_of(load_line(SEEN.row_of["inst-9010"], History(), width=5, as_ascii=True))

    assert "?" in line
    assert "0%" not in line
