"""A token goes to the Proxy it is meant for, and to no other."""

from pathlib import Path

import pytest

from cacheroute_cli.config.load import load
from cacheroute_cli.config.tokens import (
    BadToken,
    BadTokenFile,
    exposure,
    is_loopback,
    path_of,
    token_for,
)
from cacheroute_cli.context import Given
from tests.cli.config.conftest import Home


def token(home: Home, given: Given | None = None, **environ: str) -> str | None:
    given = given or Given()
    everything = {**home.environ, **environ}
    held = load(given, everything, home.here).required()
    found = token_for(held, typed=given.token, environ=everything)
    return None if found is None else found.value


def a_lab(home: Home, said: str = "secret\n", mode: int = 0o600) -> Path:
    home.write(
        'current_context = "lab"\n'
        'contexts.lab = { proxy_url = "http://10.0.0.7:8002", token_file = "lab-token" }\n'
    )
    path = home.file.parent / "lab-token"
    path.write_text(said)
    path.chmod(mode)
    return path


def test_a_context_has_its_token_in_a_file_beside_the_configuration(home: Home) -> None:
    a_lab(home)

    assert token(home) == "secret"


def test_a_token_knows_where_it_comes_from_and_shows_itself_to_nobody(home: Home) -> None:
    path = a_lab(home)
    held = load(Given(), home.environ, home.here).required()
    found = token_for(held, typed=None, environ=home.environ)
    said = token_for(held, typed=None, environ={"CACHEROUTE_TOKEN": "said"})
    typed = token_for(held, typed="typed", environ={})

    assert found is not None
    assert (found.origin, found.file) == ("token_file lab-token", path)
    assert "secret" not in repr(found)
    assert said is not None
    assert (said.origin, said.file) == ("CACHEROUTE_TOKEN", None)
    assert typed is not None
    assert typed.origin == "--token"


def test_what_is_typed_outranks_the_variable_and_that_the_file(home: Home) -> None:
    a_lab(home)

    assert token(home, Given(token="typed"), CACHEROUTE_TOKEN="said") == "typed"
    assert token(home, CACHEROUTE_TOKEN="said") == "said"


def test_the_token_of_a_context_goes_to_no_other_address(home: Home) -> None:
    a_lab(home)

    assert token(home, Given(proxy_url="http://elsewhere:1")) is None
    assert token(home, Given(context="lab", proxy_url="http://elsewhere:1")) is None
    assert token(home, CACHEROUTE_PROXY_URL="http://elsewhere:1") is None


def test_an_address_from_the_folder_we_are_in_gets_no_token(home: Home) -> None:
    stack = home.here / "stack.yaml"

    stack.write_text("console: {proxy_url: 'http://elsewhere:1'}\n")
    assert token(home, CACHEROUTE_TOKEN="said") is None
    assert token(home, Given(token="typed"), CACHEROUTE_TOKEN="said") == "typed"
    stack.write_text("console: {proxy_url: 'http://127.0.0.1:1'}\n")
    assert token(home, CACHEROUTE_TOKEN="said") == "said"


def test_a_file_that_others_can_read_is_warned_of(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    path = a_lab(home, mode=0o644)

    assert token(home) == "secret"
    assert capsys.readouterr().err == (
        f"cacheroute: warning: {home.file}:2: {path} can be read by others (mode 644); "
        "chmod 600 keeps it yours\n"
    )
    path.chmod(0o400)
    assert exposure(path) is None
    assert exposure(path.with_name("none")) is None


@pytest.mark.parametrize("said", ["", "\n", "two words\n", "\x00\n", "ä\n"])
def test_a_file_without_a_token_is_told(home: Home, said: str) -> None:
    path = a_lab(home, said)

    with pytest.raises(BadTokenFile, match=f"config.toml:2: token_file {path} holds no token"):
        token(home)


def test_a_file_that_is_not_there_is_told(home: Home) -> None:
    path = a_lab(home)
    path.unlink()

    with pytest.raises(BadTokenFile, match="cannot be read"):
        token(home)


def test_a_relative_file_is_beside_the_one_that_names_it() -> None:
    assert path_of("t", "/etc/xdg/cacheroute/config.toml:12") == Path("/etc/xdg/cacheroute/t")
    assert path_of("/t", "/etc/x:1") == Path("/t")
    assert path_of("~/t", "/etc/x:1") == Path.home() / "t"


@pytest.mark.parametrize(
    ("url", "here"),
    [("http://127.9.9.9:1", True), ("http://[::1]:1", True), ("http://localhost", True),
     ("http://127.evil.example", False), ("http://10.0.0.1", False), ("http://h", False)],
)  # fmt: skip
def test_this_host_is_known(url: str, here: bool) -> None:
    assert is_loopback(url) is here


def test_a_token_that_no_header_can_carry_is_told_before_anything_is_sent(home: Home) -> None:
    with pytest.raises(BadToken, match=r"^--token holds what no HTTP header can carry$"):
        token(home, Given(token="schl\u00fcssel"))
    with pytest.raises(BadToken, match=r"^CACHEROUTE_TOKEN holds what no HTTP header can carry$"):
        token(home, CACHEROUTE_TOKEN="two\nlines")
