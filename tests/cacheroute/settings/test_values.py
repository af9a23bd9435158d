import pytest

from cacheroute.settings.options import Option, options
from cacheroute.settings.values import (
    References,
    convert,
    is_reference,
    literal_secrets,
    read_text,
    split_list,
)


def option(key: str) -> Option:
    return options()[tuple(key.split("."))]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("proxy.port", " 8001 ", "8001"),
        ("proxy.id", "none", None),
        ("timeouts.total_s", "null", None),
        ("proxy.host", "none", "none"),
        ("proxy.cors_origins", "https://a, https://b,", ["https://a", "https://b"]),
        ("proxy.cors_origins", '["*"]', ["*"]),
        ("proxy.cors_origins", "", []),
        ("pool.instances", "a:1,b:2,api_key=env:K", ["a:1", "b:2,api_key=env:K"]),
        ("backends", '[{"name": "a"}]', [{"name": "a"}]),
    ],
)
def test_a_text_gets_the_shape_of_its_setting(key: str, text: str, value: object) -> None:
    assert read_text(option(key), text) == value


@pytest.mark.parametrize("text", ["a:1", "[", "[" * 100_000])
def test_a_list_of_sections_in_one_text_is_json(text: str) -> None:
    with pytest.raises(ValueError, match="must be a JSON list such as"):
        read_text(option("backends"), text)


def test_an_empty_part_of_a_list_is_none() -> None:
    assert split_list(" a ,, b ") == ["a", "b"]


def test_a_reference_is_what_its_variable_holds_and_stays_hidden() -> None:
    references = References(environ={"KEY": " s3cret "}, hidden={})
    given = {"api_key": "env:KEY", "rest": ["x", "gpu:1,api_key=env:KEY", 5]}
    assert references.resolve(given) == {
        "api_key": "s3cret",
        "rest": ["x", "gpu:1,api_key=s3cret", 5],
    }
    assert references.hidden == {"s3cret": "env:KEY"}
    assert references.found == {("api_key",): "env:KEY", ("rest", 1): "env:KEY"}
    assert references.missing == []


def test_every_reference_that_leads_nowhere_is_named_with_its_place() -> None:
    references = References(environ={"EMPTY": " "}, hidden={})
    references.resolve([{"api_key": "env:NOPE"}, "env:EMPTY", "env:no name"])
    assert references.missing == [
        ((0, "api_key"), "the environment variable NOPE is not set"),
        ((1,), "the environment variable EMPTY is empty"),
        ((2,), "env: takes the name of a variable, as in env:KEY"),
    ]


def test_only_a_whole_text_is_a_reference() -> None:
    assert is_reference(" env:KEY")
    assert not is_reference("gpu:1,api_key=env:KEY")
    assert References(environ={}, hidden={}).resolve("my env:KEY") == "my env:KEY"


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("pool.ttl_s", "1h30m", 5400.0),
        ("pool.ttl_s", 12, 12),
        ("limits.body_bytes", "32MiB", 33554432),
        ("timeouts.total_s", None, None),
        ("proxy.forward_authorization", False, False),
        ("proxy.request_log", False, False),
    ],
)
def test_units_are_read_by_the_name_of_the_setting(key: str, given: object, value: object) -> None:
    assert convert(option(key), given) == value


@pytest.mark.parametrize(
    ("key", "given", "why"),
    [
        ("proxy.port", None, "needs a value"),
        ("proxy.port", True, "must be a number, not true"),
        ("pool.ttl_s", False, "must be a duration, not false"),
        ("pool.ttl_s", "1:30", "must be a duration"),
        ("limits.body_bytes", "lots", "must be a size"),
    ],
)
def test_what_pydantic_would_let_pass_is_refused(key: str, given: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        convert(option(key), given)


def test_secrets_are_found_wherever_they_are_written_out() -> None:
    assert list(literal_secrets("token", "abc")) == ["abc"]
    assert list(literal_secrets("backends", [{"name": "a", "api_key": "k1"}])) == ["k1"]
    assert list(literal_secrets("instances", ["a:1,api_key=k2", "b:1"])) == ["k2"]
    assert list(literal_secrets("token", "env:KEY")) == []
    assert list(literal_secrets("port", 5)) == []
