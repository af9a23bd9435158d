"""The configuration, its context and its secrets are looked at."""

from pathlib import Path

import pytest

from cacheroute_cli.config.load import load
from cacheroute_cli.context import Given
from cacheroute_cli.doctor.of_config import check_config


def checks(tmp_path: Path, text: str | None, given: Given | None = None) -> list[tuple[str, str]]:
    file = tmp_path / "cacheroute" / "config.toml"
    if text is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_CONFIG_DIRS": "/none"}
    found = check_config(load(given or Given(), environ, tmp_path))
    return [(one.name + " " + one.verdict, one.sentence) for one in found]


def test_no_files_are_well(tmp_path: Path) -> None:
    assert checks(tmp_path, None) == [("config ok", "no files: the defaults hold")]


def test_what_is_wrong_is_bad(tmp_path: Path) -> None:
    [(verdict, sentence)] = checks(tmp_path, "timout = 1\n")

    assert verdict == "config bad"
    assert "did you mean timeout" in sentence


@pytest.mark.parametrize("readonly", ["true", "false"])
def test_the_context_in_force_says_what_may_be_done(tmp_path: Path, readonly: str) -> None:
    text = f'contexts.a = {{ proxy_url = "h:1", readonly = {readonly} }}\n'

    _, (verdict, sentence) = checks(tmp_path, text, Given(context="a"))

    mode = "read-only" if readonly == "true" else "changes allowed"
    assert (verdict, sentence) == ("context ok", f"a (--context), {mode}")


def test_an_unknown_context_is_bad(tmp_path: Path) -> None:
    found = checks(tmp_path, 'contexts.a = { proxy_url = "h:1" }\n', Given(context="b"))

    assert found[1] == ("context bad", "--context: there is no context 'b' (there are a)")


def test_secrets_that_others_can_read_or_nobody_has_are_found(tmp_path: Path) -> None:
    text = "".join(
        f'contexts.{name} = {{ proxy_url = "h:1", token_file = "{name}" }}\n' for name in "abc"
    )
    folder = tmp_path / "cacheroute"
    folder.mkdir()
    for name, mode in (("a", 0o644), ("b", 0o600)):
        (folder / name).write_text("secret")
        (folder / name).chmod(mode)

    found = checks(tmp_path, text)

    assert [verdict for verdict, _ in found] == ["config ok", "token warn", "token bad"]
    assert "mode 644" in found[1][1]
    assert found[2][1] == f"context c: {folder / 'c'} cannot be read"
