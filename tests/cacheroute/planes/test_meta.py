"""What is told at the end of an answer, byte by byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.planes.meta import as_chunk, as_event, form_asked, into_answer, meta
from tests.support.sse import events

TOLD = meta(
    {"proxy_recv_ms": 1, "kvcache_actual_path": "kv_inject"},
    kv_ack={"ok": True},
    kv_ready=("a",),
    text_only=(),
    missing=("b",),
    error=None,
)
PLAIN = {
    "trace": {"proxy_recv_ms": 1, "kvcache_actual_path": "kv_inject"},
    "kv_ack": {"ok": True},
    "kv_ready_kids": ["a"],
    "text_only_kids": [],
    "miss_kids": ["b"],
    "error": None,
}
KEYED = b'"_cacheroute_meta":' + json.dumps(PLAIN, separators=(",", ":")).encode()


def told_of(**given: Any) -> dict[str, object]:
    parts: dict[str, Any] = {
        "kv_ack": {}, "kv_ready": (), "text_only": (), "missing": (), "error": None, **given,
    }  # fmt: skip
    return meta({}, **parts)


def test_the_parts_are_told_in_the_published_order() -> None:
    assert TOLD == PLAIN
    assert list(TOLD) == list(PLAIN)


def test_an_event_is_one_line_of_data_under_its_name() -> None:
    said = as_event(told_of(error="a\nb\r\nc"))
    assert said.count(b"\n") == 3
    assert b"\r" not in said
    assert said.startswith(b"event: cacheroute_meta\ndata: {")
    (event,) = events(said)
    assert event.json()["error"] == "a\nb\r\nc"


@pytest.mark.parametrize(
    ("endpoint", "kind"),
    [
        ("chat/completions", "chat.completion.chunk"),
        ("completions", "text_completion"),
        ("messages", "chat.completion.chunk"),
    ],
)
def test_a_chunk_is_one_of_its_endpoint_without_choices(endpoint: str, kind: str) -> None:
    (event,) = events(as_chunk(TOLD, endpoint, "m"))
    assert event.name == b"message"
    assert event.json() == {
        "id": "cacheroute", "object": kind, "created": 0, "model": "m", "choices": [],
        "_cacheroute_meta": PLAIN,
    }  # fmt: skip


def test_a_chunk_for_no_model_names_none() -> None:
    (event,) = events(as_chunk(TOLD, "chat/completions", None))
    assert event.json()["model"] == ""


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (None, None),
        (b"event", "event"),
        (b" Event ", "event"),
        (b"chunk", "chunk"),
        (b"CHUNK", "chunk"),
        (b"1", "event"),
        (b"please", "event"),
        (b"chunk, event", "event"),
        (b"\xff", "event"),
        (b"", None),
        (b"  ", None),
        (b"off", None),
        (b"None", None),
        (b"no", None),
        (b"false", None),
        (b"0", None),
    ],
)
def test_a_word_that_means_nothing_asks_for_the_event(
    value: bytes | None, form: str | None
) -> None:
    assert form_asked(value) == form


# Answers of JSON


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b'{"a":1}', b'{"a":1,' + KEYED + b"}"),
        (b' {\n "a" : 1e2 \n}\n\n', b' {\n "a" : 1e2,' + KEYED + b"}"),
        (b"{}", b"{" + KEYED + b"}"),
        (b'{"a":123456789012345678.10,"a":2}', b'{"a":123456789012345678.10,"a":2,' + KEYED + b"}"),
    ],
)  # fmt: skip
def test_every_byte_of_an_object_stays_as_it_was(answer: bytes, told: bytes) -> None:
    assert into_answer(answer, TOLD) == told


@pytest.mark.parametrize(
    ("answer", "raw"),
    [
        (b"", ""),
        (b"Bad Gateway", "Bad Gateway"),
        (b'"text"', '"text"'),
        (b"[1, 2]", "[1, 2]"),
        (b"null", "null"),
        (b'{"a":1', '{"a":1'),
        (b'{"a":1}{"b":2}', '{"a":1}{"b":2}'),
        (b"\xffx", "\ufffdx"),
        (b"[" * 100_000, "[" * 100_000),
    ],
)
def test_what_is_no_object_is_kept_as_text(answer: bytes, raw: str) -> None:
    assert json.loads(into_answer(answer, TOLD)) == {"raw": raw, "_cacheroute_meta": PLAIN}


@pytest.mark.parametrize(
    "answer",
    [
        b'{"logprob":-Infinity,"text":"\\ud83d"}',
        b'\xef\xbb\xbf{"a":1}',
    ],
    ids=["no finite number, half a letter", "a byte order mark"],
)
def test_an_object_that_only_some_parsers_take_stays_an_object(answer: bytes) -> None:
    found = json.loads(into_answer(answer, TOLD))
    assert found.pop("_cacheroute_meta") == PLAIN
    assert found == json.loads(answer)


# Anything at all


def test_half_a_letter_is_told_as_far_as_it_can_be() -> None:
    told = told_of(missing=("\ud800",), error="\udfff")
    for said in (
        events(as_event(told))[0].json(),
        events(as_chunk(told, "completions", "m"))[0].json()["_cacheroute_meta"],
        json.loads(into_answer(b"{}", told))["_cacheroute_meta"],
        json.loads(into_answer(b"", told))["_cacheroute_meta"],
    ):
        assert (said["miss_kids"], said["error"]) == (["?"], "?")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(), JSON, max_size=4), st.text(), st.binary(max_size=40))
def test_whatever_an_instance_says_the_form_holds(
    ack: dict[str, Any], error: str, answer: bytes
) -> None:
    told = told_of(kv_ack=ack, error=error)
    (event,) = events(as_event(told))
    assert event.name == b"cacheroute_meta"
    assert event.json()["kv_ack"] == ack
    assert json.loads(into_answer(answer, told))["_cacheroute_meta"]["kv_ack"] == ack
