from typing import Any

import pytest

from cacheroute.demo.schema_example import example_of


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "text.."),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "maximum": -2}, -2),
        ({"type": "number"}, 1.0),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["string", "null"]}, "text"),
        ({"enum": ["a", "b"]}, "a"),
        ({"const": 7}, 7),
        ({"default": "x", "type": "string"}, "x"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [True, True]),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 1}),
        ({"type": "object"}, {}),
        ({}, None),
        (None, None),
        ({"type": "unheard-of"}, None),
    ],
)
def test_a_value_fits_its_schema(schema: Any, value: object) -> None:
    assert example_of(schema) == value


def test_references_are_followed_within_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/City"}, "gone": {"$ref": "#/$defs/None"}},
        "$defs": {"City": {"enum": ["Oslo"]}},
    }
    assert example_of(schema) == {"city": "Oslo", "gone": None}


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert "next" in example_of(schema)
