"""From the configuration to what the console is started with."""

from pathlib import Path

import pytest

from cacheroute_cli.context import Given
from cacheroute_cli.diagnostics import Fault, UsageFault
from cacheroute_tui.starting import Typed, options_of

CONFIG = """
current_context = "here"
[tui]
interval = 3
theme = "light"
mouse = false
clipboard = "file"
[alerts]
gpu = [50, 60]
[keys]
pause = "Z"
[contexts.here]
proxy_url = "http://127.0.0.1:18002"
label = "This one"
[contexts.there]
proxy_url = "http://10.0.0.2:8002"
readonly = true
[contexts.broken]
proxy_url = "http://10.0.0.3:8002"
token_file = "/nowhere/at/all"
"""


@pytest.fixture
def given(tmp_path: Path) -> Given:
    """Return options that name a configuration of ours."""
    file = tmp_path / "config.toml"
    file.write_text(CONFIG, encoding="utf-8")
    return Given(config_file=str(file))


def test_the_configuration_is_taken_over(given: Given) -> None:
    found = options_of(given, Typed(), {})

    assert found.target.proxy_url == "http://127.0.0.1:18002"
    assert found.target.title == "This one"
    assert found.target.rules.gpu.bad == 60
    assert found.interval_s == 3
    assert found.theme == "light"
    assert not found.mouse
    assert found.clipboard == "file"
    assert found.keys == {"pause": "Z"}
    assert found.screen == "overview"
    assert not found.may_write


def test_the_token_of_a_context_comes_with_where_it_is_from(tmp_path: Path) -> None:
    file, token = tmp_path / "config.toml", tmp_path / "lab-token"
    token.write_text("secret")
    token.chmod(0o600)
    file.write_text(
        'current_context = "lab"\n'
        'contexts.lab = { proxy_url = "http://10.0.0.7:8002", token_file = "lab-token" }\n'
    )
    target = options_of(Given(config_file=str(file)), Typed(), {}).target

    assert target.token == "secret"
    assert target.token_origin == "token_file lab-token"
    assert target.token_file == token
    assert "secret" not in repr(target)


def test_what_is_typed_outranks_it(given: Given) -> None:
    typed = Typed(screen="raw", interval_s=0.5, theme="mono", mouse=True)
    found = options_of(given, typed, {})

    assert found.screen == "raw"
    assert found.interval_s == 0.5
    assert found.theme == "mono"
    assert found.mouse
    with pytest.raises(UsageFault, match="--interval must be between"):
        options_of(given, Typed(interval_s=900), {})


def test_what_cannot_be_used_is_doubted_and_the_rest_holds(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[tui]\ninterval = 30\ncolumns = ["id", "sate", "trend"]\n'
        '[keys]\n"app.theme" = "T"\npause = "q"\n',
        encoding="utf-8",
    )

    found = options_of(Given(config_file=str(file)), Typed(), {})

    assert found.interval_s == 10
    assert found.columns == ("sign", "id", "trend")
    assert found.keys == {"theme": "T"}
    assert [doubt.partition(": ")[2].split()[0] for doubt in found.doubts] == [
        "tui.interval", "tui.columns:", "keys.pause",
    ]  # fmt: skip


def test_every_context_that_can_be_used_is_there_to_choose(given: Given) -> None:
    found = options_of(given, Typed(), {})

    assert [one.name for one in found.targets] == ["here", "there"]
    assert [one.readonly for one in found.targets] == [False, True]


def test_write_is_for_the_context_it_was_typed_for(given: Given) -> None:
    plain = options_of(given, Typed(write=True), {})
    assert plain.may_write

    named = Given(config_file=given.config_file, context="there")
    there = options_of(named, Typed(write=True), {})
    assert there.may_write
    assert not options_of(named, Typed(), {}).may_write
    # The others keep what their context says.
    assert [one.readonly for one in plain.targets] == [False, True]


def test_an_address_that_is_typed_needs_no_configuration(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("", encoding="utf-8")
    found = options_of(
        Given(config_file=str(empty), proxy_url="127.0.0.1:7"), Typed(), {"TERM": "linux"}
    )

    assert found.target.proxy_url == "http://127.0.0.1:7"
    assert found.target.title == "proxy"
    assert found.ascii


def test_a_demo_is_looked_at_only(given: Given) -> None:
    found = options_of(given, Typed(source="demo:7", write=True), {})

    assert found.target.proxy_url == "demo:7"
    assert found.target.name == "demo"
    assert not found.may_write


def test_a_context_that_is_not_there_is_said(given: Given) -> None:
    with pytest.raises(Fault, match="there is no context 'nowhere'"):
        options_of(Given(config_file=given.config_file, context="nowhere"), Typed(), {})
