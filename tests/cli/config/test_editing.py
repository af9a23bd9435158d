"""A person's edit takes the file's place only when it is good; else what was typed is kept."""

import sys
from pathlib import Path

import pytest

from cacheroute_cli.config.editing import EditorFailed, edit_by_hand
from cacheroute_cli.config.load import BadConfig
from cacheroute_cli.config.store import ConfigChanged, ConfigUnwritable
from cacheroute_cli.diagnostics import UsageFault


def an_editor(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setenv("VISUAL", f"sed -i {script}")


def test_a_good_edit_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text("timeout = 1\n")
    an_editor(monkeypatch, "s/1/2/")

    edit_by_hand(path)

    assert path.read_text() == "timeout = 2\n"


def test_the_first_edit_begins_with_every_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "new" / "config.toml"
    an_editor(monkeypatch, r"'s/^# timeout.*/timeout = 9/'")

    edit_by_hand(path)

    assert "\ntimeout = 9\n" in path.read_text()


def test_a_bad_edit_is_kept_beside_and_the_file_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "config.toml"
    path.write_text("timeout = 1\n")
    an_editor(monkeypatch, "s/timeout/timout/")

    with pytest.raises(BadConfig, match="did you mean timeout") as raised:
        edit_by_hand(path)

    assert path.read_text() == "timeout = 1\n"
    [kept] = tmp_path.glob("cacheroute-*.toml")
    assert str(kept) in str(raised.value.hint)
    assert kept.read_text() == "timout = 1\n"


def test_no_change_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("timeout = 1\n")
    before = path.stat().st_ino
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)

    edit_by_hand(path)

    assert capsys.readouterr().err == "nothing was changed\n"
    assert path.stat().st_ino == before


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("false", "ended with exit 1"),
        ("/none/such", r"'/none/such' cannot be started \(no such file or directory\)$"),
        ("'", "cannot be"),
    ],
)
def test_an_editor_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, words: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("VISUAL", editor)

    with pytest.raises(EditorFailed, match=words):
        edit_by_hand(tmp_path / "config.toml")

    assert list(tmp_path.iterdir()) == []


def test_without_a_person_and_an_editor_there_is_no_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)

    with pytest.raises(UsageFault, match="nobody is here to edit"):
        edit_by_hand(tmp_path / "config.toml")


def test_an_edit_that_cannot_be_written_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "config.toml"
    an_editor(monkeypatch, r"'s/^# timeout.*/timeout = 9/'")

    with pytest.raises(ConfigUnwritable, match="cannot be written") as raised:
        edit_by_hand(path)

    [kept] = tmp_path.glob("cacheroute-*.toml")
    assert str(kept) in str(raised.value.hint)
    assert "\ntimeout = 9\n" in kept.read_text()


@pytest.mark.parametrize("before", ["timeout = 1\n", None])
def test_a_context_that_is_added_meanwhile_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / "cacheroute" / "config.toml"
    if before is not None:
        path.parent.mkdir()
        path.write_text(before)
    editor = tmp_path / "editor.sh"
    editor.write_text(
        f"{sys.executable} -m cacheroute_cli context add b --proxy-url http://127.0.0.1:1 "
        ">/dev/null && sed -i 's/^#* *timeout.*/timeout = 9/' \"$1\"\n"
    )
    monkeypatch.setenv("VISUAL", f"sh {editor}")

    with pytest.raises(ConfigChanged, match="was changed by another command") as raised:
        edit_by_hand(path)

    assert "[contexts.b]" in path.read_text()
    [kept] = tmp_path.glob("cacheroute-*.toml")
    assert str(kept) in str(raised.value.hint)
    assert "timeout = 9\n" in kept.read_text()


def test_what_comes_back_as_no_text_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "config.toml"
    path.write_text("timeout = 1\n")
    an_editor(monkeypatch, r"'s/1/\xff/'")

    with pytest.raises(BadConfig, match="is not UTF-8 text") as raised:
        edit_by_hand(path)

    [kept] = tmp_path.glob("cacheroute-*.toml")
    assert str(kept) in str(raised.value.hint)
    assert path.read_text() == "timeout = 1\n"
