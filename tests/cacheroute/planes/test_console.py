"""Revisions move with what is told, documents are made once, and known names are not repeated."""

import json
from typing import Any

import msgspec

from cacheroute.planes.console import ConsolePages, encoded
from cacheroute.wire.console import ConsoleSnapshot, Unchanged
from cacheroute.wire.console_reading import read_snapshot
from tests.cacheroute.core.pool_builders import an_instance, at, joined
from tests.cacheroute.planes.control_parts import Owner


def an_owner(*ids: str) -> Owner:
    owner = Owner()
    for number, id_ in enumerate(ids):
        joined(owner.pool, an_instance(id_, port=9001 + number), owner.clock.now())
    return owner


def whole(document: bytes | None) -> ConsoleSnapshot:
    assert document is not None
    found = read_snapshot(document)
    assert isinstance(found, ConsoleSnapshot)
    return found


def test_the_first_answer_is_whole_and_the_next_one_says_that_nothing_is_new() -> None:
    pages = ConsolePages(an_owner("a", "b"))

    rev, document = pages.answer(None, None)
    again, nothing = pages.answer(rev, None)

    assert whole(document).ids == ["a", "b"]
    assert whole(document).rev == rev
    assert (again, nothing) == (rev, None)


def test_time_alone_makes_no_news_until_somebody_falls_silent() -> None:
    owner = an_owner("a")
    pages = ConsolePages(owner)
    rev, _ = pages.answer(None, None)

    owner.clock.instant = at(1_025.0)
    assert pages.answer(rev, None) == (rev, None)

    owner.clock.instant = at(1_031.0)
    assert pages.answer(rev, None)[0] == rev + 1


def test_a_revision_that_is_not_the_newest_gets_the_whole_document() -> None:
    owner = an_owner("a")
    pages = ConsolePages(owner)
    rev, _ = pages.answer(None, None)

    for known in (rev - 1, rev + 1, 0):
        assert whole(pages.answer(known, None)[1]).rev == rev


def test_whoever_knows_the_instances_is_not_told_them_again_until_they_change() -> None:
    owner = an_owner("a")
    pages = ConsolePages(owner)
    first = whole(pages.answer(None, None)[1])

    owner.pool.members["a"].inflight = 3
    _, document = pages.answer(first.rev, first.who)
    assert document is not None
    assert json.loads(document)["identities"] is None
    second = read_snapshot(document, first)
    assert isinstance(second, ConsoleSnapshot)
    assert (second.ids, second.instances.inflight) == (["a"], 3)

    # Who they are is made once for all documents of the same pool.
    kept = pages.frame(0.0).snapshot.identities
    owner.pool.members["a"].inflight = 4
    assert pages.frame(0.0).snapshot.identities is kept

    joined(owner.pool, an_instance("b", port=9009), owner.clock.now())
    third = whole(pages.answer(second.rev, second.who)[1])
    assert (third.ids, third.who > second.who) == (["a", "b"], True)


def test_many_who_ask_at_once_share_one_document_and_a_stream_one_of_the_last_half_second() -> None:
    owner = an_owner("a")
    pages = ConsolePages(owner)
    frame = pages.frame(0.5)

    owner.clock.instant = at(1_000.05)
    assert pages.answer(None, None)[1] is frame.written()
    owner.clock.instant = at(1_000.4)
    assert pages.frame(0.5) is frame
    assert pages.answer(None, None)[1] is not frame.written()

    owner.clock.instant = at(1_001.0)
    assert pages.frame(0.5) is not frame


def test_numbers_of_two_runs_are_not_taken_for_each_other() -> None:
    before, after = an_owner("a"), an_owner("a")
    after.started = at(950.0)
    rev, _ = ConsolePages(before).answer(None, None)

    newer, document = ConsolePages(after).answer(rev, rev)

    assert newer != rev
    assert whole(document).ids == ["a"]
    assert whole(document).run != ConsolePages(before).run


def test_that_nothing_is_new_is_said_with_the_time() -> None:
    owner = an_owner("a")
    pages = ConsolePages(owner)
    rev, _ = pages.answer(None, None)
    owner.clock.instant = at(1_004.0)

    found = read_snapshot(pages.unchanged())

    assert isinstance(found, Unchanged)
    assert (found.rev, found.unchanged, found.uptime_s) == (rev, True, 104.0)


def test_the_page_of_one_instance_has_its_row_its_loads_and_what_was_predicted() -> None:
    owner = an_owner("a", "b")
    page: Any = ConsolePages(owner).instance("b")

    assert page["instance"]["instance_id"] == "b"
    assert [row["instance_id"] for row in page["loads"]["instances"]] == ["b"]
    assert page["predictions"] is None

    owner.predictions.saw_ttft(owner.pool.members["b"], 100.0, 200.0)
    page = ConsolePages(owner).instance("b")
    assert page["predictions"]["errors"]["count"] == 1

    assert ConsolePages(owner).instance("c") is None


def test_half_a_letter_in_a_name_spoils_no_document() -> None:
    broken = msgspec.structs.replace(
        ConsoleSnapshot(rev=1, generated_at=0.0), run="half \ud800 a letter"
    )

    assert json.loads(encoded(broken))["run"] == "half ? a letter"
