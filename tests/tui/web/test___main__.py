"""Serving the console: where, with which token, and what is refused before anything is served."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_tui.web.__main__ import listen_of, main, token_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:8202", ("127.0.0.1", 8202)),
        ("8202", ("127.0.0.1", 8202)),
        (":0", ("127.0.0.1", 0)),
        ("[::1]:8202", ("::1", 8202)),
        ("console.lan:80", ("console.lan", 80)),
    ],
)
def test_where_it_listens(text: str, expected: tuple[str, int]) -> None:
    assert listen_of(text) == expected


@pytest.mark.parametrize("text", ["", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", "a:-1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(UsageFault, match="--listen"):
        listen_of(text)


def test_beyond_this_host_the_token_must_be_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--listen", "0.0.0.0:8202", "--", "--demo"]) == 2

    assert "the token must be one that you chose" in capsys.readouterr().err


def test_write_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--", "--write"]) == 2

    assert "only looks" in capsys.readouterr().err


def test_a_token_is_read_from_a_file_of_ours_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("a-token-of-ours\n")
    path.chmod(0o600)

    assert token_of(str(path)) == "a-token-of-ours"


@pytest.mark.parametrize(
    ("text", "mode", "why"),
    [
        ("a-token-of-ours", 0o644, "others may read"),
        ("short", 0o600, "at least 8"),
        ("", 0o600, "at least 8"),
        ("tökentöken", 0o600, "cannot be typed"),
    ],
)
def test_a_token_that_is_none_is_refused(text: str, mode: int, why: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(mode)

    with pytest.raises(UsageFault, match=why):
        token_of(str(path))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="no such file"):
        token_of(str(tmp_path / "token"))
