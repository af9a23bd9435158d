"""What is read as a document, and what is hostile costs nothing but its values."""

import msgspec
import pytest

from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities, Lists, Unchanged
from cacheroute.wire.console_reading import NotASnapshot, pool_of, read_snapshot


def test_a_document_comes_back_as_it_was_sent() -> None:
    sent = ConsoleSnapshot(
        rev=3,
        generated_at=1.5,
        identities=Identities(ids=["a", "b"], models=Lists(values=[["m"]], at=[0, 0])),
        instances=Columns(inflight=[1, 2], score=[0.1, None], state="alive"),
    )

    assert read_snapshot(msgspec.json.encode(sent)) == sent


def test_what_a_later_version_adds_is_passed_over() -> None:
    body = b'{"rev":1,"generated_at":2,"new":{"a":1},"identities":{"ids":["a"],"colour":"red"}}'
    found = read_snapshot(body)

    assert isinstance(found, ConsoleSnapshot)
    assert found.ids == ["a"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[" * 100_000,
        b'{"rev":1}',
        b'{"rev":1,"generated_at":1,"identities":{"ids":[1]}}',
        b'{"rev":1,"generated_at":1,"identities":{},"instances":{"inflight":"many"}}',
        b'{"rev":1,"unchanged":"perhaps","generated_at":1}',
    ],
)
def test_what_is_no_document_is_told_from_one(body: bytes) -> None:
    with pytest.raises(NotASnapshot):
        read_snapshot(body)


def test_names_are_taken_from_the_document_before_only_if_they_are_of_the_same_pool() -> None:
    before = ConsoleSnapshot(rev=1, generated_at=0.0, who=4, identities=Identities(ids=["a"]))
    body = b'{"rev":2,"generated_at":1,"who":4}'

    found = read_snapshot(body, before)
    assert isinstance(found, ConsoleSnapshot)
    assert found.ids == ["a"]
    for known in (None, msgspec.structs.replace(before, who=5)):
        with pytest.raises(NotASnapshot):
            read_snapshot(body, known)


def test_nothing_new_is_a_document_of_its_own() -> None:
    assert read_snapshot(b'{"rev":2,"unchanged":true,"generated_at":9.5}') == Unchanged(
        rev=2, unchanged=True, generated_at=9.5
    )


def test_a_summary_of_another_shape_is_unknown_and_not_zero() -> None:
    odd = pool_of({"instances": 3, "load": {"inflight_total": True}, "utilization": None})

    assert (odd.accepting, odd.inflight, odd.cpu_util_avg) == (None, None, None)
    assert pool_of({"load": {"inflight_total": 4.0, "qps_1m_total": 1.5}}).inflight == 4
    assert pool_of({"utilization": {"memory_used_ratio": 0.25}}).memory_used_percent == 25.0
