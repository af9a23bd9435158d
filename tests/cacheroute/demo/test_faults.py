from typing import Any

import pytest

from cacheroute.demo.faults import KINDS, Fault, Faults, parse_fault, read_fault
from cacheroute.demo.refusal import Refusal


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_enough(kind: str) -> None:
    assert read_fault({"kind": kind}).kind == kind


def test_a_fault_that_nothing_bounds_strikes_once() -> None:
    assert read_fault({"kind": "error"}).count == 1
    assert read_fault({"kind": "error", "for_s": 5}).count is None


def test_a_refusal_always_ends() -> None:
    assert read_fault({"kind": "refuse"}).for_s == 5.0


def test_a_freeze_lasts_until_it_is_taken_back() -> None:
    assert read_fault({"kind": "freeze"}) == Fault(kind="freeze")


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"kind": "unheard-of"},
        {"kind": "error", "colour": "red"},
        {"kind": "error", "status": 200},
        {"kind": "error", "status": "500"},
        {"kind": "error", "count": 0},
        {"kind": "error", "count": True},
        {"kind": "error", "count": 1.5},
        {"kind": "slow", "factor": float("nan")},
        {"kind": "freeze", "for_s": 10**400},
        {"kind": "die_mid_stream", "after_tokens": -1},
    ],
)
def test_what_is_no_fault_is_a_400(body: Any) -> None:
    with pytest.raises(Refusal) as caught:
        read_fault(body)
    assert caught.value.status == 400


def test_the_command_line_says_the_same_in_short() -> None:
    assert parse_fault("error:status=503,count=3,retry_after_s=1.5") == Fault(
        kind="error", status=503, count=3, retry_after_s=1.5
    )
    assert parse_fault("freeze") == Fault(kind="freeze")


@pytest.mark.parametrize("text", ["", "boom", "error:status", "error:status=x", "error:colour=red"])
def test_what_makes_no_sense_there_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        parse_fault(text)


def test_a_fault_is_used_up() -> None:
    faults = Faults()
    faults.arm(Fault(kind="error", count=2), 0.0)
    struck = [faults.strike(1.0) for _ in range(3)]
    assert [fault is not None for fault in struck] == [True, True, False]


def test_a_fault_ends_with_its_time() -> None:
    faults = Faults()
    faults.arm(Fault(kind="error", for_s=10.0), 100.0)
    assert faults.strike(109.9) is not None
    assert faults.strike(110.0) is None
    assert faults.armed(110.0) == []


def test_one_of_each_kind_is_armed_at_most() -> None:
    faults = Faults()
    for status in (500, 503):
        faults.arm(Fault(kind="error", status=status, count=1), 0.0)
    faults.arm(Fault(kind="freeze"), 0.0)
    assert [(one.kind, one.status) for one in faults.armed(0.0)] == [
        ("error", 503),
        ("freeze", 500),
    ]
    faults.disarm("error")
    assert [one.kind for one in faults.armed(0.0)] == ["freeze"]
    faults.clear()
    assert faults.armed(0.0) == []


def test_a_lasting_fault_strikes_no_single_request() -> None:
    faults = Faults()
    faults.arm(Fault(kind="freeze"), 0.0)
    assert faults.strike(0.0) is None
