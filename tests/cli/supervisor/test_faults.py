"""The end of a child, as the exit code of the command that needed it."""

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import child_failed


@pytest.mark.parametrize(
    ("child_exit", "ours", "words"),
    [
        (2, Exit.USAGE, "ended with exit 2"),
        (5, Exit.CONFLICT, "ended with exit 5"),
        (1, Exit.FAILED, "ended with exit 1"),
        (-9, Exit.FAILED, "was ended by signal 9"),
        (None, Exit.FAILED, "proxy ended before"),
    ],
)
def test_a_child_that_knows_why_it_ended_decides_our_exit(
    child_exit: int | None, ours: Exit, words: str
) -> None:
    fault = child_failed("proxy", child_exit, ["last line"], "/log")

    assert fault.exit == ours
    assert words in fault.message
    assert fault.message.endswith("last line")


def test_an_error_within_an_error_is_introduced_once() -> None:
    fault = child_failed("proxy", 2, ["cacheroute: error: f.yaml:1: no", "  hint: x"], "/log")

    assert fault.message.splitlines() == [
        "proxy ended with exit 2 before it was ready", "f.yaml:1: no",
    ]  # fmt: skip


def test_the_advice_of_a_program_of_ours_stands_among_hints() -> None:
    fault = child_failed(
        "attach", 3, ["cacheroute: error: nobody answers", "  hint: is it running?"], "a.log"
    )

    assert fault.message == "attach ended with exit 3 before it was ready\nnobody answers"
    assert fault.hint == "is it running? · its log is a.log"
