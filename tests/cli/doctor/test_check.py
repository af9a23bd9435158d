"""A check is a line, its way out stands below, and only what is bad spoils the whole."""

from cacheroute_cli.doctor.check import bad, is_well, lines_of, ok, warn
from cacheroute_cli.tables import render_lines


def test_each_check_is_a_line_and_its_way_out_another() -> None:
    checks = [
        ok("config", "no files"),
        warn("files", "1024 may be open", "ulimit -n 4096"),
        bad("proxy", "one thing\nanother", "mend it"),
    ]

    assert render_lines(lines_of(checks), width=None, color=False) == [
        "config    ok    no files",
        "files     warn  1024 may be open",
        "                → ulimit -n 4096",
        "proxy     bad   one thing",
        "                another",
        "                → mend it",
    ]


def test_a_warning_is_no_failure() -> None:
    assert is_well([ok("a", "x"), warn("b", "x")])
    assert not is_well([ok("a", "x"), bad("b", "x")])
