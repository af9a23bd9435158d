"""An Instance as a text and back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.stores.rows import from_row, to_row
from tests.cacheroute.core.pool_builders import an_instance
from tests.cacheroute.stores.store_parts import WHOLE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_what_it_said_comes_back() -> None:
    assert from_row(to_row(WHOLE)) == WHOLE


@given(st.dictionaries(st.text(), JSON))
def test_any_meta_comes_back(meta: dict[str, object]) -> None:
    assert from_row(to_row(an_instance(meta=meta))).meta == meta


def test_what_others_said_of_it_is_not_written() -> None:
    text = to_row(an_instance(api_key="sk-secret", models=frozenset({"m"}), model_override="o"))
    assert set(json.loads(text)) == {
        "instance_id", "host", "port", "base_path", "endpoints", "tags", "weight", "meta",
        "capabilities", "registered_wall_s",
    }  # fmt: skip
    assert "sk-secret" not in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"instance_id": "i", "host": "h", "port": 0}',
        '{"instance_id": "i", "host": "h", "port": 1, "weight": -1}',
        '{"instance_id": "i", "host": "h", "port": 1, "meta": []}',
    ],
)
def test_what_holds_no_instance_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_row(text)
