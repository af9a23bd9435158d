"""What each list asks, and what a missing page costs."""

import pytest

from cacheroute.client.control import ControlClient
from cacheroute.client.faults import NotUnderstood, Refused
from cacheroute.console.kinds import KINDS
from cacheroute_cli.asking import ASKERS, FOLLOWED, Wanted, overview, told
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies, replies

POOL = (an_instance("a"), an_instance("gone", is_alive=False, last_seen_at=900))
PUBLISHED = {
    **replies(*POOL),
    "/v1/topology/kdn_links": {"kdn_links": {}},
    "/debug/instance_resources?include_dead=true": {"instances": []},
}


def test_every_list_that_is_asked_for_has_columns() -> None:
    assert set(ASKERS) <= set(KINDS)
    assert set(FOLLOWED) <= set(ASKERS)


@pytest.mark.parametrize("name", ASKERS)
def test_every_list_can_be_had_of_a_proxy_of_ours_without_a_note(name: str) -> None:
    with a_control_plane(our_replies(*POOL)) as url, ControlClient(url) as client:
        found = ASKERS[name](client, Wanted())

    assert [note for note in found.notes if "has no" in note] == []


@pytest.mark.parametrize("name", ASKERS)
def test_every_list_of_a_published_proxy_has_rows_or_says_why_not(name: str) -> None:
    with a_control_plane(PUBLISHED) as url, ControlClient(url) as client:
        found = ASKERS[name](client, Wanted(all=True))

    # It has the published page of resources, which holds none here.
    assert found.rows or found.notes or name == "resources"


def test_a_page_that_is_missing_is_none_and_a_note() -> None:
    notes: list[str] = []

    def missing() -> None:
        raise Refused(url="u", status=404, body="")

    def odd() -> None:
        raise NotUnderstood(url="u", why="x: y")

    assert told(notes, "/p", missing) is None
    assert told(notes, "/q", odd) is None
    assert notes == [
        "this Proxy has no /p: what it would tell is unknown",
        "/q is not understood (x: y): what it would tell is unknown",
    ]


def test_a_page_that_is_refused_is_no_missing_one() -> None:
    def forbidden() -> None:
        raise Refused(url="u", status=401, body="")

    with pytest.raises(Refused):
        told([], "/p", forbidden)


def test_only_those_alive_are_told_unless_all_are_wanted() -> None:
    with a_control_plane(our_replies(*POOL)) as url, ControlClient(url) as client:
        for name in ("instances", "loads", "queues", "resources"):
            assert [row.id for row in ASKERS[name](client, Wanted()).rows] == ["a"]
            assert len(ASKERS[name](client, Wanted(all=True)).rows) == 2


def test_an_overview_knows_the_dead_as_well() -> None:
    with a_control_plane(our_replies(*POOL)) as url, ControlClient(url) as client:
        found, rows, notes = overview(client, url)

    assert (found.alive, found.dead, len(rows), notes) == (1, 1, 2, [])
