"""The table of keys is sound: every default is of its kind, and every name stands once."""

import pytest

from cacheroute.settings.names import OTHER_PREFIXED_NAMES
from cacheroute_cli import context
from cacheroute_cli.config.options import CONTEXT_OPTIONS, OPTIONS, Option

EVERY = [*OPTIONS.values(), *CONTEXT_OPTIONS.values()]


@pytest.mark.parametrize("option", EVERY, ids=lambda option: option.key)
def test_a_default_is_of_its_kind(option: Option) -> None:
    if option.default is not None:
        assert option.kind.read(option.default) == option.default


def test_no_variable_sets_two_keys() -> None:
    named = [name for one in OPTIONS.values() for name in (one.variable, one.published) if name]

    assert len(set(named)) == len(named)


def test_a_proxy_that_sees_our_variables_knows_that_they_are_not_its_own() -> None:
    ours = {one.variable for one in OPTIONS.values() if one.variable}

    assert ours - OTHER_PREFIXED_NAMES == set()


def test_what_a_context_may_have_is_what_the_top_of_a_file_has_and_three_more() -> None:
    assert [key for key in CONTEXT_OPTIONS if key not in OPTIONS] == ["label", "token_file"]
    assert CONTEXT_OPTIONS["color"] is not OPTIONS["color"]
    assert CONTEXT_OPTIONS["proxy_url"] is OPTIONS["proxy_url"]


def test_the_defaults_are_those_of_the_commands() -> None:
    assert OPTIONS["proxy_url"].default == context.DEFAULT_PROXY_URL
    assert OPTIONS["timeout"].default == context.DEFAULT_TIMEOUT_S


def test_every_key_has_a_sentence() -> None:
    assert [one.key for one in EVERY if not one.doc.rstrip("…").rstrip(" .")] == []
