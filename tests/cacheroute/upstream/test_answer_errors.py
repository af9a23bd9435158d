"""Errors inside a 200: seen in any form, and held back until they are known for none."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.cacheroute.upstream.answer_builders import DEEP, captured, delta, event, watched

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Errors in a 200


def test_a_full_engine_that_says_so_in_its_first_event() -> None:
    watch = watched(captured("overload-in-200"))
    assert watch.error is not None
    assert watch.error.startswith("The engine is currently busy")
    assert watch.error_status == 503
    assert watch.opened_with_error
    assert watch.first_token_s is None


def test_an_engine_that_is_killed_mid_stream_ends_as_if_all_were_well() -> None:
    watch = watched(captured("engine-killed"))
    assert watch.error is not None
    assert watch.error.startswith("EngineCore encountered an issue")
    assert watch.error_status == 500
    assert watch.done_marks == 1
    assert not watch.opened_with_error


@pytest.mark.parametrize(
    ("said", "error", "status"),
    [
        (event({"error": {"message": "boom", "code": 500}}), "boom", 500),
        (event({"error": {"type": "overloaded", "status": 529}}), "overloaded", 529),
        (event({"error": "boom"}), "boom", None),
        (event({"error": {"message": "boom", "code": "queue_full"}}), "boom", None),
        (event({"error": {"message": "boom", "code": True}}), "boom", None),
        (event({"error": {"message": "boom", "code": 200}}), "boom", None),
        (event({"object": "error", "message": "boom", "code": 400}), "boom", 400),
        (event({"type": "error", "error": {"message": "boom"}}, "error"), "boom", None),
        (event({"reason": "boom"}, "error"), "unnamed", None),
        (b"event: error\ndata: boom\n\n", "boom", None),
        (b"event: error\ndata: [1]\n\n", "[1]", None),
        (b'data: {"error":\ndata: {"message":"boom"}}\n\n', "boom", None),
        (b'data: {"error":{"message":"boom"}}\r\n\r\n', "boom", None),
    ],
)
def test_an_error_event_in_any_form_is_an_error(
    said: bytes, error: str, status: int | None
) -> None:
    watch = watched(said)
    assert (watch.error, watch.error_status) == (error, status)
    assert watch.opened_with_error
    after = watched(event(delta(content="x")), said)
    assert (after.error, after.error_status) == (error, status)
    assert not after.opened_with_error


@pytest.mark.parametrize(
    "said",
    [
        event(delta(content='{"error": "boom"}')),
        event({**delta(content="x"), "error": None}),
        event({**delta(content="x"), "error": {}}),
        event({"errors": ["boom"]}),
        b'data: "error"\n\n',
        b": error\n\n",
        b"event: message\ndata: {}\n\n",
    ],
)
def test_what_only_mentions_an_error_is_none(said: bytes) -> None:
    assert watched(said).error is None


def test_the_first_error_is_the_one_that_is_told_and_it_is_cut_to_a_size() -> None:
    watch = watched(event({"error": {"message": "a" * 2000, "code": 500}}), event({"error": "b"}))
    assert watch.error == "a" * 500
    assert watch.error_status == 500


def test_errors_behind_a_comment_have_still_opened_the_stream() -> None:
    assert watched(b": ping\n\n", captured("overload-in-200")).opened_with_error


# When the head may go


HELD = [
    captured("overload-in-200").partition(b"\n\n")[0],
    b'data: {"error":{"message":"boom"}}',
    b'data:{ "error" : "boom" }',
    b'data: {"object":"error","message":"boom"}',
    b'data: {"message":"boom","error":{}}',
    b'data: {"detail":"x"}',
    b'event: error\ndata: {"type":"error","error":{"message":"boom"}}',
    b'event: error\ndata: {"reason":"boom"}',
    b"event: error\ndata: boom",
    b'data: {"code":500,\ndata: "error":"x"}',
    b"id: 1\nretry: 5\ndata: {\"error\":1}",
]  # fmt: skip


@pytest.mark.parametrize("begun", HELD)
def test_what_may_become_an_error_is_held_at_every_byte(begun: bytes) -> None:
    watch = watched()
    for n in range(len(begun)):
        watch.feed(begun[n : n + 1])
        assert not watch.is_open, f"open after {begun[: n + 1]!r}"
    watch.feed(b"\n\n")
    assert watch.is_open


@pytest.mark.parametrize(
    ("held", "decides"),
    [
        (b"data: ", b"x"),
        (b"data:", b"["),
        (b"data: {", b"}"),
        (b"data: { ", b"1"),
        (b'data: {"', b"i"),
        (b'data: {"e', b"v"),
        (b'data: {"errors', b'"'),
        (b"event: x\ndata: ", b"1"),
        (b": pin", b"g\n"),
    ],
)  # fmt: skip
def test_what_cannot_become_one_goes_at_the_byte_that_decides(held: bytes, decides: bytes) -> None:
    watch = watched()
    for n in range(len(held)):
        watch.feed(held[n : n + 1])
        assert not watch.is_open or held[: n + 1] == b'data: {"errors'
    watch.feed(decides)
    assert watch.is_open


def test_a_head_is_not_held_for_more_than_any_error_needs() -> None:
    watch = watched(b'data: {"message":"' + b"x" * 10_000)
    assert not watch.is_open
    watch.feed(b"x" * 10_000)
    assert watch.is_open


FIRST_KEYS = st.sampled_from(
    ["id", "choices", "error", "object", "model", "e", "err", "errors", "t"]
)


@patient
@given(FIRST_KEYS, st.sampled_from(["", " ", "\t"]), st.lists(st.integers(0, 200), max_size=5))
def test_an_error_is_never_missed_and_an_answer_never_waits_for_its_second_event(
    key: str, blank: str, cuts: list[int]
) -> None:
    data = f'{{{blank}"{key}":{blank}"x"}}'.encode()
    whole = b"data: " + data + b"\n\n"
    at = [0, *sorted(cut % (len(whole) + 1) for cut in cuts), len(whole)]
    watch = watched()
    for a, b in pairwise(at):
        before = watch.is_open
        watch.feed(whole[a:b])
        if key == "error" and b > a:
            assert not before, "it was open before the error was known"
    assert watch.is_open
    assert (watch.error is not None) == (key == "error")


# Ends and limits


@pytest.mark.parametrize(
    ("rest", "is_cut_off"),
    [
        (b"", False),
        (b"data: [DONE]", False),
        (b"data: [DONE]\n", False),
        (event(delta(content="x"))[:-1], False),
        (event(delta(content="x"))[:-2], False),
        (event(delta(content="x"))[:-3], True),
        (b"data: {\"a\":", True),
        (b"dat", True),
    ],
)  # fmt: skip
def test_a_stream_that_just_stops_is_whole_unless_it_stops_within_an_event(
    rest: bytes, is_cut_off: bool
) -> None:
    watch = watched(event(delta(content="x")), rest)
    assert watch.is_cut_off == is_cut_off
    assert watch.is_amid_event == bool(rest)


def test_an_event_that_outgrows_the_limit_is_told() -> None:
    watch = watched(b"data: " + b"x" * 90, limit_bytes=100)
    assert not watch.too_large
    watch.feed(b"x" * 10)
    assert watch.too_large


def test_many_events_that_are_small_each_outgrow_nothing() -> None:
    assert not watched(*[event(delta(content="x"))] * 100, limit_bytes=200).too_large


SAID = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"data: ", b"\n\n", b"\r\n", b"event: error\n", b'{"error":', b'{"usage":', b"{}",
            b"[DONE]", b'{"choices":[{"delta":', b"null", b"\xff", b'"\\ud800"', b"}]}",
            b": c\n", b"1e999",
        ]
    ),
)  # fmt: skip


@patient
@given(st.lists(SAID, max_size=12))
@example([b"data: " + DEEP + b"\n\n"])
@example([b'data: {"error":' + DEEP + b"}\n\n"])
@example([b'data: {"usage":' + DEEP + b"}\n\n"])
@example([b"data: " + DEEP])
@example([b'data: {"choices":[{"delta":"x"}],"message":[],"response":7}\n\n'])
def test_nothing_that_an_instance_says_raises(pieces: list[bytes]) -> None:
    watch = watched()
    for piece in pieces:
        was_open = watch.is_open
        watch.feed(piece)
        assert watch.is_open or not was_open
    assert isinstance(watch.is_cut_off, bool)
    watch.close()
