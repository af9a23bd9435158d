"""One value changes, every other byte stays."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cacheroute.formats import json_edit
from cacheroute.formats.json_edit import append_key, find_value, replace_value

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

NEW = b'"new"'

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(['}', '{"model":1}', ',"model":', '\\', '"', '\\"', "]"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["model", "a", "}", '"']) | st.text(max_size=4), inner),
    max_leaves=8,
)  # fmt: skip
KEYS = st.sampled_from(["model", "Model", "models", "a", "", "model ", '"model"', "\\model"])
SPACES = st.text(" \t\r\n", max_size=3)


def escaped(key: str, every: int) -> str:
    """Write a key with some of its characters as escapes."""
    if every == 0:
        return json.dumps(key)
    return '"' + "".join(
        f"\\u{ord(c):04x}" if n % every == 0 or c in '"\\' else c for n, c in enumerate(key)
    ) + '"'  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """An object in any layout, with repeated and escaped keys."""
    rows = []
    for key in draw(st.lists(KEYS, max_size=5)):
        value = json.dumps(
            draw(VALUES), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
        )
        a, b, c, d = (draw(SPACES) for _ in range(4))
        rows.append(f"{a}{escaped(key, draw(st.integers(0, 3)))}{b}:{c}{value}{d}")
    lead, end, inner = draw(SPACES), draw(SPACES), draw(SPACES)
    text = f"{lead}{{{','.join(rows) if rows else inner}}}{end}"
    return text.encode("utf-8", "surrogatepass")


def last_value(document: bytes, key: str) -> tuple[list[tuple[str, Any]], bool]:
    """Return the pairs of a document in order, and whether the key is among them."""
    pairs: list[tuple[str, Any]] = json.loads(
        document.decode("utf-8", "surrogatepass"), object_pairs_hook=list
    )
    return pairs, any(name == key for name, _ in pairs)


@patient
@given(documents())
@example(b'{"mod\\u0065l":"old"}')
@example(b'{"a":{"model":"inner"},"model":"outer"}')
@example(b'{"model":"first","model":"second"}')
@example(b'{"a":"\\"model\\":1","model" : 1.0e400 }')
@example(b'{"model":{"model":[{"model":1}]}}')
def test_the_value_changes_and_all_other_bytes_stay(document: bytes) -> None:
    pairs, is_there = last_value(document, "model")
    span = find_value(document, b"model")
    assert (span is not None) == is_there
    edited = replace_value(document, b"model", NEW)
    if span is None:
        assert edited == document
        return
    start, end = span
    assert edited == document[:start] + NEW + document[end:]
    last = max(n for n, (name, _) in enumerate(pairs) if name == "model")
    expected = [("model", "new") if n == last else pair for n, pair in enumerate(pairs)]
    assert last_value(edited, "model")[0] == expected
    value = document[start:end]
    assert value == value.strip()
    assert json.loads(value, object_pairs_hook=list) == pairs[last][1]


@pytest.mark.parametrize(
    "document",
    [
        b"{}",
        b" { } ",
        b'{"a":1}',
        b'{"models":1}',
        b'{"a":["model",":",{"model":1}]}',
        b'{"a":"model"}',
    ],
)
def test_without_the_key_nothing_changes(document: bytes) -> None:
    assert find_value(document, b"model") is None
    assert replace_value(document, b"model", NEW) == document


def test_the_last_of_repeated_keys_counts_as_it_does_for_every_reader() -> None:
    document = b'{"model":"a","x":1,"model":"b"}'
    assert replace_value(document, b"model", NEW) == b'{"model":"a","x":1,"model":"new"}'


@patient
@given(st.binary(max_size=200) | documents().map(lambda d: d[: len(d) // 2]))
@example(b'{"model"}')
@example(b'{"model"')
@example(b'{"model":')
@example(b'--boundary\r\n{"model" no colon')
@example(b'{"mod\\qel":1}')
@example(b'{"mod\\u12":1}')
@example(b"}}}]]]{{{")
def test_what_is_no_json_object_raises_nothing(document: bytes) -> None:
    """A path that is passed through may carry anything, also to an Instance with an override."""
    replace_value(document, b"model", NEW)


@pytest.mark.parametrize(
    "document",
    [
        b'[{"model":1}]',
        b'--b\r\nContent-Type: application/json\r\n\r\n{"model":"x"}\r\n--b--',
        b'"model":1',
        b"",
    ],
)
def test_what_is_no_json_object_stays_as_it_is(document: bytes) -> None:
    assert replace_value(document, b"model", NEW) == document


@pytest.mark.parametrize("filler", [b"A", b"\\n"], ids=["a picture", "escapes"])
def test_a_long_text_costs_no_more_than_a_few_copies_of_it(filler: bytes) -> None:
    """A mebibyte of one string must not become a hundred of a matcher's memory."""
    document = b'{"messages":[{"content":"' + filler * (1 << 20) + b'"}],"model":"m"}'
    tracemalloc.start()
    try:
        edited = replace_value(document, b"model", NEW)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert edited == document.removesuffix(b'"m"}') + b'"new"}'
    assert peak_bytes < 10 * len(document), f"{peak_bytes / len(document):.0f} times its size"


FILLERS = {
    "numbers": b"[" + b"1," * 5000 + b"1]",
    "empty lists": b"[" + b"[]," * 5000 + b"[]]",
    "pairs": b"[" + b'{"a":[1,"x]"]},' * 5000 + b"1]",
}


@pytest.mark.parametrize("filler", FILLERS.values(), ids=FILLERS)
def test_what_lies_before_the_key_is_not_gone_through_one_by_one(
    filler: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five million numbers of an embedding took twenty seconds of everybody's time."""
    monkeypatch.setattr(json_edit, "_STEPS_MAX", 20)
    many = b"".join(b'"k%d" : 1,' % number for number in range(5000))
    for document in (b'{"x":%b,"model":"m"}', b'{"y":{"x":%b},"model":"m"}'):
        before = document.replace(b"{", b"{" + many, 1) % filler
        after = before.replace(b'"m"', b'"other"')
        assert json_edit.replace_value(before, b"model", b'"other"') == after


def test_a_document_made_to_cost_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_edit, "_STEPS_MAX", 1000)
    for costly in (b'"x":' + b"[" * 2000 + b"]" * 2000, b",".join([b'"\\u0061":1'] * 2000)):
        for before in (b"{", b'{"model":"first",'):
            document = before + costly + b',"model":"m"}'
            assert json_edit.replace_value(document, b"model", b"1") == document


@pytest.mark.parametrize(
    ("document", "grown"),
    [
        (b"{}", b'{"k":1}'),
        (b' { "a" : 1.0 } \n', b' { "a" : 1.0,"k":1}'),
        (b'{"a":"}"}', b'{"a":"}","k":1}'),
    ],
)
def test_a_key_is_added_at_the_end_of_an_object(document: bytes, grown: bytes) -> None:
    assert append_key(document, "k", b"1") == grown


@pytest.mark.parametrize("document", [b"", b"[]", b"7", b"{", b'{"a":1}}', b"oops}", b"\xff{}"])
def test_nothing_is_added_to_what_is_no_object(document: bytes) -> None:
    assert append_key(document, "k", b"1") is None
