"""Of a large event the little that is needed is read, in the shape it would have had."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.upstream.large_event import BUILT_BYTES, READ_BYTES, glance
from cacheroute.upstream.usage import Usage
from tests.cacheroute.upstream.answer_builders import delta, event, watched

LONG = "x" * (2 * BUILT_BYTES)
HUGE = "x" * (2 * READ_BYTES)
COUNTS = {"prompt_tokens": 3, "completion_tokens": 2}
SMALL = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = ("type", "object", "error", "usage", "choices", "message", "response")


@given(st.dictionaries(st.sampled_from([*KEYS, "other"]), SMALL, max_size=8))
def test_what_is_small_is_read_as_it_is(value: dict[str, Any]) -> None:
    seen = glance(json.dumps(value).encode())
    assert seen == {name: value[name] for name in KEYS if value.get(name) is not None}


@pytest.mark.parametrize("data", [b"1", b'"x"', b"[]", b"null"])
def test_what_is_no_object_says_nothing(data: bytes) -> None:
    assert glance(data) is None


@pytest.mark.parametrize("data", [b"", b"{", b'{"usage":}', b'{"usage":{}', b'{"x":[}'])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        glance(data)


def test_large_generated_content_is_a_token() -> None:
    watch = watched(event(delta(role="assistant")), event(delta(content=LONG)))
    assert watch.first_token_s == 1.0
    assert watch.error is None


def test_a_large_event_of_bookkeeping_is_no_token() -> None:
    created = {"type": "response.created", "response": {"instructions": LONG}}
    assert watched(event(created)).first_token_s is None


def test_usage_beside_large_content_is_found() -> None:
    completed = {"type": "response.completed", "response": {"output": [LONG], "usage": COUNTS}}
    assert watched(event(completed)).usage == Usage(3, 2, None)
    assert watched(event({**delta(content=LONG), "usage": COUNTS})).usage == Usage(3, 2, None)


@pytest.mark.parametrize(
    "value",
    [
        {"error": {"message": "boom", "code": 503}, "input": LONG},
        {"error": {"message": LONG, "code": 503}},
        {"object": "error", "message": "boom", "input": LONG},
        {"type": "response.failed", "response": {"error": {"message": "boom"}, "input": LONG}},
    ],
    ids=range(4),
)
def test_a_large_error_is_an_error(value: dict[str, Any]) -> None:
    error = watched(event(value)).error
    assert error is not None
    assert "boom" in error or "xxx" in error
    assert len(error) <= 500


def test_of_an_event_beyond_all_bounds_it_is_seen_that_it_comes() -> None:
    watch = watched(event(delta(content=HUGE)), event({"choices": [], "usage": COUNTS}))
    assert watch.events == 2
    assert watch.first_token_s == 1.0
    assert watch.usage == Usage(3, 2, None)
    assert not watch.too_large
    assert sum(map(len, watch._scanner._line)) == 0


def test_an_error_beyond_all_bounds_is_told_by_its_name() -> None:
    assert watched(event({"message": HUGE}, "error")).error is not None


def test_a_stream_that_stops_in_an_event_beyond_all_bounds_is_cut_off() -> None:
    said = event(delta(content=HUGE))[:-4]
    watch = watched(*(said[start : start + 100_000] for start in range(0, len(said), 100_000)))
    assert sum(map(len, watch._scanner._line)) < READ_BYTES + 200_000
    assert watch.is_amid_event
    assert watch.is_cut_off


def test_a_value_of_a_million_empty_lists_is_not_built() -> None:
    empty = b"[" + b"[]," * (READ_BYTES // 4) + b"1]"
    for name in KEYS:
        seen = glance(b'{"%b":%b}' % (name.encode(), empty))
        assert seen is not None
        assert len(str(seen)) < 1000
