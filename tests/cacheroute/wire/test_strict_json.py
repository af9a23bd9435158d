"""JSON that every reader takes."""

import json
import math
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.wire.strict_json import MAX_DEPTH, encode, flaw_of

TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(TREES)
def test_whatever_goes_in_comes_out_as_json(tree: object) -> None:
    def refuse(word: str) -> None:
        raise AssertionError(word)

    json.loads(encode(tree).decode(), parse_constant=refuse)


@given(TREES)
def test_a_sound_tree_comes_out_as_it_went_in(tree: object) -> None:
    if flaw_of(tree) is None:
        assert json.loads(encode(tree)) == tree


def test_a_lone_surrogate_does_not_break_the_page() -> None:
    assert encode({"a": "\ud800"}) == b'{"a":"?"}'


def test_mappings_and_sets_are_objects_and_lists() -> None:
    value = {"m": MappingProxyType({"x": math.nan}), "s": frozenset({"b", "a"})}
    assert encode(value) == b'{"m":{"x":null},"s":["a","b"]}'


def test_what_is_not_json_is_a_defect() -> None:
    with pytest.raises(TypeError, match="object"):
        encode(object())


def nested(depth: int) -> object:
    return [] if depth == 1 else [nested(depth - 1)]


def test_depth_is_bounded() -> None:
    assert flaw_of(nested(MAX_DEPTH)) is None
    assert flaw_of(nested(MAX_DEPTH + 1)) == f"nested deeper than {MAX_DEPTH} levels"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_only_finite_numbers_are_sound(value: float) -> None:
    assert flaw_of({"a": [1, {"b": value}]}) == f"{value} is not a finite number"
