"""One line and a hint, or one object; always on stderr."""

import json

import pytest

from cacheroute_cli.diagnostics import Exit, Fault, UsageFault, detail, note, report_fault, speak


def test_the_exit_codes_are_the_published_table() -> None:
    assert {e.name: e.value for e in Exit} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "UNREACHABLE": 3,
        "NOT_FOUND": 4,
        "CONFLICT": 5,
        "BAD_ANSWER": 6,
        "WAIT_TIMED_OUT": 7,
        "NOT_ALLOWED": 8,
        "NOT_UNDERSTOOD": 9,
        "INTERRUPTED": 130,
        "BROKEN_PIPE": 141,
        "TERMINATED": 143,
    }


def test_an_error_is_a_line_and_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    report_fault(UsageFault("no such thing", hint="try another"), as_json=False)

    out, err = capsys.readouterr()
    assert out == ""
    assert err == "cacheroute: error: no such thing\n  hint: try another\n"


def test_further_lines_are_set_in(capsys: pytest.CaptureFixture[str]) -> None:
    report_fault(Fault("it ended\nlast words"), as_json=False)

    assert capsys.readouterr().err == "cacheroute: error: it ended\n  last words\n"


def test_an_error_for_a_program_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    report_fault(UsageFault("no", url="http://h", cause="x"), as_json=True)

    error = json.loads(capsys.readouterr().err)["error"]
    assert error == {
        "code": "usage",
        "message": "no",
        "hint": None,
        "url": "http://h",
        "cause": "x",
        "exit": 2,
    }


def test_what_came_from_elsewhere_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report_fault(Fault("it said \x1b[2J"), as_json=False)

    assert "\x1b" not in capsys.readouterr().err


def test_how_much_is_said_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        speak(quiet=True)
        note("by the way")
        detail("who was asked")
        report_fault(Fault("an error is always said"), as_json=False)
        assert capsys.readouterr().err == "cacheroute: error: an error is always said\n"
        speak(verbose=True)
        detail("who was asked")
        assert capsys.readouterr().err == "cacheroute: who was asked\n"
    finally:
        speak()
    detail("who was asked")

    assert capsys.readouterr().err == ""


def test_a_note_is_not_data(capsys: pytest.CaptureFixture[str]) -> None:
    note("by the way")

    assert capsys.readouterr() == ("", "by the way\n")
