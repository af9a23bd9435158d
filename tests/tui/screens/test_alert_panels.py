"""Alerts as lines: which are active, which somebody knows of, and which are over."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from cacheroute.console.alert_log import AlertState, Noted
from cacheroute.console.alerts import Alert, AlertKind
from cacheroute.console.rules import RULES
from cacheroute_tui.screens.alert_panels import (
    AlertKeys,
    about,
    alert_lines,
    alert_meaning,
    alert_meanings,
    alerts_title,
    choice_text,
)
from cacheroute_tui.widgets.lines import TextLine

BEGAN = datetime(2026, 1, 1, 14, 20, 11, tzinfo=UTC)
KEYS = AlertKeys(silence="x", explain="e")


def noted(
    who: str = "i-0", *, kind: AlertKind = "skew", state: AlertState = "active", of: str = "skewed"
) -> Noted:
    return Noted(
        alert=Alert(
            kind=kind, severity="warn", instance_id=who, message=f"{who} is {of}",
            value=9, threshold=7, unit="", since=BEGAN,
        ),
        state=state,
        last_at=BEGAN + timedelta(seconds=30),
    )  # fmt: skip


def texts(lines: Sequence[TextLine]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def test_a_sign_and_a_word_tell_the_state_before_any_colour() -> None:
    lines = texts(
        alert_lines([noted(), noted(state="silenced"), noted(state="past")], 3, KEYS),
    )

    assert lines == [
        " ▲ 14:20:11 skew     i-0 is skewed",
        " ■ 14:20:11 skew     silenced: i-0 is skewed",
        " ○ 14:20:41 skew     past: i-0 is skewed",
    ]


def test_alerts_without_room_are_counted_in_the_last_line() -> None:
    lines = texts(alert_lines([noted(f"i-{n}") for n in range(9)], 4, KEYS))

    assert len(lines) == 4
    assert lines[-1] == "   6 more: x lists them"
    assert len(alert_lines([noted()] * 9, 3, KEYS)) == 3
    assert texts(alert_lines([], 3, KEYS)) == [" no alerts"]


def test_one_that_nobody_knows_the_beginning_of_has_no_time() -> None:
    one = noted()
    [line] = texts(alert_lines([replace(one, alert=replace(one.alert, since=None))], 3, KEYS))

    assert line.startswith(" ▲ --:--:-- skew")


def test_the_heading_counts_each_state_and_the_active_ones_first() -> None:
    several = [noted(), noted("i-1"), noted(state="silenced"), noted(state="past")]

    assert alerts_title(several) == "alerts 2 · 1 silenced · 1 past"
    assert alerts_title([]) == alerts_title([], KEYS) == "alerts"
    assert alerts_title([noted()], KEYS) == "alerts 1 · x silences, e explains"
    assert alerts_title([noted(state="past")]) == "alerts · 1 past"


def test_an_alert_is_explained_with_what_was_found_and_where_its_threshold_is_set() -> None:
    text = "\n".join(texts(alert_meaning(noted(), RULES)))

    for told in (
        "far more requests than the median", "found: 9, told from 7 on",
        "threshold: Told over skew_ratio", "set by: alerts.skew_min = 3", "config edit",
        "from: counted by the Proxy",
    ):  # fmt: skip
        assert told in text, told


def test_a_state_has_no_number_to_set() -> None:
    text = "\n".join(texts(alert_meaning(noted(kind="stale"), RULES)))

    assert "set by" not in text
    assert "found" not in text


def test_of_each_kind_one_is_explained_and_that_of_the_instance_first() -> None:
    several = [noted("i-0"), noted("i-1"), noted("i-2", kind="gpu"), noted("i-9", state="past")]

    heads = [line for line in texts(alert_meanings(several, RULES, first="i-2")) if "14:20" in line]

    assert [line.split()[2:4] for line in heads] == [["gpu", "i-2"], ["skew", "i-0"]]
    heads = [line for line in texts(alert_meanings(several, RULES, first="i-1")) if "14:20" in line]
    assert [line.split()[2:4] for line in heads] == [["skew", "i-1"], ["gpu", "i-2"]]


def test_an_alert_is_found_by_whom_it_is_about() -> None:
    several = [noted("i-0", state="past"), noted("i-1"), noted("i-1", kind="gpu")]

    assert about(several, "i-1") == ("skew", "i-1")
    assert about(several, "i-0") is None
    assert choice_text(noted()) == "▲ 14:20:11 skew     i-0 is skewed"


def test_an_alert_is_as_old_as_it_is_when_it_is_drawn() -> None:
    one = noted()
    silent = replace(
        one, alert=replace(one.alert, kind="stale", value=41.0, threshold=30, message="as found")
    )
    past = replace(silent, state="past")

    [line, ended] = texts(alert_lines([silent, past], 3, KEYS, passed_s=4.0))

    assert "i-0 last seen 45s ago, ttl 30 s" in line
    assert ended.endswith("past: as found")
