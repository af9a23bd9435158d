"""Values are counted as they would be built; what stands in strings is text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.formats import json_values
from cacheroute.formats.json_values import has_more_values

TEXT = st.text(st.sampled_from('ab,[{"\\/\n\u00e9'), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


def marks(value: Any) -> int:
    """Count the commas and opening brackets that a value is written with."""
    if isinstance(value, list):
        return 1 + max(0, len(value) - 1) + sum(map(marks, value))
    if isinstance(value, dict):
        return marks(list(value.values()))
    return 0


@given(JSON, st.booleans(), st.integers(1, 9))
def test_commas_and_brackets_in_strings_are_no_values(
    value: Any, is_ascii: bool, block_bytes: int
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii).encode()
    count = marks(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "_BLOCK_BYTES", block_bytes)
        assert not has_more_values(text, count)
        assert count == 0 or has_more_values(text, count - 1)


@pytest.mark.parametrize("text", [b"", b'"', b'"\\', b'\\"\\"', b"\\", b"[[[", b'{"a', b"\xff,"])
def test_what_is_no_json_does_no_harm(text: bytes) -> None:
    has_more_values(text, 0)


def test_a_long_text_with_commas_is_one_value() -> None:
    text = json.dumps({"text": 'one, two, "three", [four] \\ ' * 100_000}).encode()
    assert not has_more_values(text, 1)


def test_a_million_empty_lists_are_a_million_values() -> None:
    assert has_more_values(b"[" + b"[]," * 1_000_000 + b"1]", 500_000)
