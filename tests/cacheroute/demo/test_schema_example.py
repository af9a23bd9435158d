import json
import math
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
        ({"type": "integer", "minimum": math.nan}, 1),
        ({"type": "integer", "minimum": math.inf}, 1),
        ({"type": "number", "minimum": 10**400}, 1.0),
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
    example, depth = example_of(schema), 0
    while example is not None:
        example, depth = example["next"], depth + 1
    assert 2 < depth < 20


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 64, "items": {"$ref": "#"}},
        {"type": "object", "properties": {f"p{n}": {"$ref": "#"} for n in range(64)}},
    ],
)
def test_a_schema_that_refers_to_itself_many_times_ends_before_long(schema: Any) -> None:
    assert len(json.dumps(example_of(schema))) < 1_000_000
