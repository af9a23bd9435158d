"""The file that is written for a start, and the schema, say what the table of keys says."""

import tomllib
from pathlib import Path

from cacheroute_cli.config.options import CONTEXT_OPTIONS, OPTIONS
from cacheroute_cli.config.store import problems_of
from cacheroute_cli.config.texts import schema, template


def test_the_template_is_good_and_changes_nothing() -> None:
    assert problems_of(template(), Path("c")) == []
    assert tomllib.loads(template()) == {"tui": {}, "alerts": {}, "keys": {}}


def test_every_key_of_the_template_may_be_uncommented() -> None:
    lines = [line.removeprefix("# ") for line in template().splitlines()]
    text = "\n".join(line for line in lines if line.startswith(("[", '"')) or " = " in line)

    assert problems_of(text, Path("c")) == []
    document = tomllib.loads(text)
    assert set(document["contexts"]["lab"]) == set(CONTEXT_OPTIONS)
    flat = set(document) | {f"tui.{key}" for key in document["tui"]}
    flat |= {f"alerts.{key}" for key in document["alerts"]}
    assert {key for key, option in OPTIONS.items() if option.in_files} <= flat


def test_the_schema_knows_every_key_and_refuses_others() -> None:
    top = schema()

    assert top["additionalProperties"] is False
    assert top["properties"]["tui"]["properties"]["interval"] == {
        "description": OPTIONS["tui.interval"].doc,
        "type": "number",
        "minimum": 0.2,
        "maximum": 3600,
        "default": 1.0,
    }
    context = top["properties"]["contexts"]["additionalProperties"]
    assert set(context["properties"]) == set(CONTEXT_OPTIONS)
    assert context["required"] == ["proxy_url"]
    assert top["properties"]["alerts"]["properties"]["gpu"]["default"] == [75, 95]
