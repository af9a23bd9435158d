"""What may stand at the cursor, wherever on the line it is."""

from collections.abc import Sequence
from typing import Any

import pytest

from cacheroute_cli.completing.candidates import (
    Candidate,
    Place,
    after_program,
    candidates,
    place_of,
    split,
)


def words(known: dict[str, Any], line: str) -> list[str]:
    """Return what may follow; the names of a source are the source and a number."""

    def names(source: str, _: Place) -> Sequence[Candidate]:
        return [Candidate(word=f"{source}-{at}") for at in (1, 2)]

    place = place_of(known["tree"], after_program(split(line)))
    return [one.word for one in candidates(place, names)]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cacheroute stat", ["status"]),
        ("cacheroute context ", ["list", "show", "use", "add", "rm"]),
        ("cacheroute -c lab context u", ["use"]),
        ("cacheroute --context=lab context u", ["use"]),
        ("cacheroute context use ", ["contexts-1", "contexts-2"]),
        ("cacheroute context use x ", []),
        ("cacheroute drain instances-1", ["instances-1"]),
        ("cacheroute drain a b ", ["instances-1", "instances-2"]),
        ("cacheroute drain --reason 'a b' ", ["instances-1", "instances-2"]),
        ("cacheroute show --raw ", ["instances-1", "instances-2"]),
        ("cacheroute -c ", ["contexts-1", "contexts-2"]),
        ("cacheroute --context=", ["--context=contexts-1", "--context=contexts-2"]),
        ("cacheroute instances -o j", ["json", "jsonl"]),
        ("cacheroute instances --output=cs", ["--output=csv"]),
        ("cacheroute status --proxy-url ", []),
        ("cacheroute instances 5 ", []),
        ("cacheroute status --che", ["--check"]),
        ("cacheroute instances --no-h", ["--no-headers"]),
        ("cacheroute drain -- ", ["instances-1", "instances-2"]),
        ("cacheroute drain -- --re", []),
        ("cacheroute nonsense ", []),
        ("sudo -E X=1 /usr/bin/cacheroute stat", ["status"]),
        ("cacheroute drain 'inst", ["instances-1", "instances-2"]),
        ('cacheroute drain "inst', ["instances-1", "instances-2"]),
        ("cacheroute completion b", ["bash"]),
    ],
)
def test_what_fits_is_found(known: dict[str, Any], line: str, found: list[str]) -> None:
    assert words(known, line) == found


def test_options_are_those_of_the_command_and_of_all(known: dict[str, Any]) -> None:
    found = words(known, "cacheroute config show --")

    assert {"--origin", "--output", "--context", "--help"} <= set(found)
    assert len(found) == len(set(found))


def test_options_are_not_offered_where_a_value_is_due(known: dict[str, Any]) -> None:
    assert words(known, "cacheroute -c -") == []


def test_each_word_has_its_help(known: dict[str, Any]) -> None:
    place = place_of(known["tree"], ["doct"])

    [one] = candidates(place, lambda *_: ())
    assert (
        one.help
        == "Check that everything here and at the Proxy is as it should be; exit 6 when not."
    )


def test_what_stands_before_is_told_to_the_source(known: dict[str, Any]) -> None:
    place = place_of(known["tree"], ["-c", "lab", "drain", "--proxy-url=h:1", ""])

    assert place.given == {"--context": "lab", "--proxy-url": "h:1"}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a b", ["a", "b"]),
        ("a b ", ["a", "b", ""]),
        ("a 'b c", ["a", "b c"]),
        ("a 'b ", ["a", "b "]),
        ("", [""]),
        ("a \\", ["a", ""]),
        ("a b\\\\", ["a", "b\\"]),
    ],
)
def test_a_line_that_is_not_finished_is_split(line: str, found: list[str]) -> None:
    assert split(line) == found
