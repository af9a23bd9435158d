"""Every way to type something wrongly, and the one sentence that is said of it."""

import pytest

from cacheroute_cli import main
from cacheroute_cli.diagnostics import Exit


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("instances abc", "N must be a whole number, not 'abc'"),
        ("instances 0", "N must be at least 1, not 0"),
        ("instances -n 1.5", "--limit must be a whole number, not 1.5"),
        ("instances -i abc", "--interval must be a number, not 'abc'"),
        ("weight i 1e9", "N must be at most 1000000, not 1e9"),
        ("up --port-offset -1", "--port-offset must be at least 0, not -1"),
        ("-o xml status", "--output must be one of table, plain, wide, json, jsonl, csv, name, "
         "not 'xml'"),
        ("completion ksh", "SHELL must be one of bash, zsh, fish, not 'ksh'"),
        ("completion", "SHELL is missing; it is one of bash, zsh, fish"),
        ("drain", "ID is missing"),
        ("instance run", "COMMAND is missing"),
        ("instance attach", "--endpoint is missing"),
        ("status --check", "--check needs a value"),
        ("status --colour red", "there is no option --colour; did you mean '--color' or "
         "'--count'?"),
        ("status --xyz", "there is no option --xyz"),
        ("instances -5", "there is no option -5"),
        ("status now please", "more was typed than is taken here: now please"),
        ("statsu", "there is no command 'statsu'; did you mean 'status' or 'start' or 'restart'?"),
        ("agent strat", "there is no command 'strat'; did you mean 'start' or 'status'?"),
        ("agent xyz", "there is no command 'xyz'"),
        ("calibrate --log /no/such", "--log: file '/no/such' does not exist"),
    ],
)  # fmt: skip
def test_what_is_typed_wrongly_is_named_with_what_it_must_be(
    capsys: pytest.CaptureFixture[str], typed: str, said: str
) -> None:
    assert main.run(typed.split()) == Exit.USAGE

    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == f"cacheroute: error: {said}"


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("status --check", "cacheroute status"),
        ("-o json -o", "cacheroute"),
        ("agent strat", "cacheroute agent"),
        ("proxy start --port x", "cacheroute proxy start"),
    ],
)
def test_the_hint_names_the_command_whose_help_is_worth_reading(
    capsys: pytest.CaptureFixture[str], typed: str, path: str
) -> None:
    assert main.run(typed.split()) == Exit.USAGE

    assert f"try '{path} --help'" in capsys.readouterr().err
