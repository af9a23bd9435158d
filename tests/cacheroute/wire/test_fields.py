"""What a field may hold."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from cacheroute.wire import fields


def accepts(kind: Any, value: object) -> bool:
    try:
        TypeAdapter[object](kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (fields.InstanceId, ["i-1", "hp_[::1]:9001"], ["", "a b", "ä", "a\n", "x" * 265, 7]),
        (fields.Port, [1, 65535, "9001"], [0, 65536, True, 1.5, None]),
        (fields.Finite, [0, -1.5, "2"], [float("nan"), float("inf"), True, "x"]),
        (fields.NotNegative, [0, 1.5], [-0.1, float("inf"), False]),
        (fields.Count, [0, 7], [-1, True, 0.5]),
        (fields.Positive, [1], [0, True]),
        (fields.Word, ["a", "x" * 128], ["", "x" * 129]),
        (fields.Text, ["", "x" * 512], ["x" * 513]),
        (fields.JsonObject, [{}, {"a": [None]}], [{"a": float("nan")}, [], None]),
    ],
)
def test_bounds_hold_on_both_sides(kind: Any, good: list[object], bad: list[object]) -> None:
    assert [value for value in good if not accepts(kind, value)] == []
    assert [value for value in bad if accepts(kind, value)] == []


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_blank_id_is_left_out(value: str | None) -> None:
    adapter: TypeAdapter[str | None] = TypeAdapter(fields.OptionalInstanceId)
    assert adapter.validate_python(value) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("chat/completions", "chat/completions"),
        (" /v1/chat/completions ", "chat/completions"),
        ("/tokenize/", "tokenize"),
    ],
)
def test_an_endpoint_has_one_spelling(value: str, expected: str) -> None:
    adapter: TypeAdapter[str] = TypeAdapter(fields.Endpoint)
    assert adapter.validate_python(value) == expected


def test_a_bare_version_is_no_endpoint() -> None:
    assert not accepts(fields.Endpoint, "/v1/")
