"""Lines of a recording: what another version wrote is passed over, names are filled in."""

import msgspec

from cacheroute.sources.entries import Entry, read_entry, with_identities
from cacheroute.wire.console import ConsoleSnapshot, Identities

LOOK = ConsoleSnapshot(rev=1, generated_at=2.0, who=3, identities=Identities(ids=["a"]))


def test_a_line_comes_back_as_it_was_written() -> None:
    entry = Entry(
        at=5.0, kind="look", look=LOOK, decisions=[msgspec.Raw(b'{"seq":1}')],
        topology=[msgspec.Raw(b"{}")],
    )  # fmt: skip
    again = read_entry(msgspec.json.encode(entry))

    assert again is not None
    assert (again.at, again.look) == (5.0, LOOK)
    assert [bytes(row) for row in again.decisions] == [b'{"seq":1}']


def test_what_means_nothing_to_this_version_is_passed_over() -> None:
    for line in (b"", b"{", b'{"at":1,"kind":"dream"}', b"[" * 100_000, b'{"kind":"look"}'):
        assert read_entry(line) is None
    assert read_entry(b'{"at":1,"kind":"gap","why":"x","more":1}') is not None


def test_names_are_filled_in_from_a_look_of_the_same_pool_only() -> None:
    bare = msgspec.structs.replace(LOOK, rev=2, identities=None)

    assert with_identities(bare, LOOK).ids == ["a"]
    assert with_identities(bare, None) == bare
    assert with_identities(bare, msgspec.structs.replace(LOOK, who=9)) == bare
    assert with_identities(LOOK, None) is LOOK
