"""The file is changed whole or not at all, by one command after the other."""

import threading
from pathlib import Path

import pytest

from cacheroute_cli.config.load import BadConfig
from cacheroute_cli.config.places import places
from cacheroute_cli.config.store import (
    ConfigChanged,
    ConfigNotEditable,
    ConfigUnwritable,
    change,
    problems_of,
    put_over,
    users_file,
)
from cacheroute_cli.config.toml_edit import with_context


def added(name: str) -> str:
    return f'[contexts.{name}]\nproxy_url = "http://127.0.0.1:1"\n'


def test_a_file_that_is_not_there_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "config.toml"

    change(path, lambda text: text + added("x"))

    assert path.read_text() == added("x")
    assert [one.name for one in path.parent.iterdir()] == ["config.toml"]


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("timeout = 1\n")
    real.chmod(0o600)
    link = tmp_path / "config.toml"
    link.symlink_to(real)

    change(link, lambda text: text + added("x"))

    assert link.is_symlink()
    assert real.read_text() == "timeout = 1\n" + added("x")
    assert real.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_wrong_already_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("timout = 1\n")

    with pytest.raises(BadConfig, match="did you mean timeout"):
        change(path, lambda text: text + added("x"))

    assert path.read_text() == "timout = 1\n"


def test_an_edit_that_would_make_it_wrong_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"

    with pytest.raises(BadConfig, match="color must be one of"):
        change(path, lambda _: added("x") + 'color = "pink"\n')

    assert not path.exists()


def test_what_only_a_person_can_change_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('contexts = { a = { proxy_url = "http://127.0.0.1:1" } }\n')

    with pytest.raises(ConfigNotEditable, match="line 1: contexts is one inline table"):
        change(path, lambda text: with_context(text, "b", {"proxy_url": "http://127.0.0.1:1"}))


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigUnwritable, match="cannot be written"):
        change(tmp_path / "file" / "config.toml", lambda text: text)


def test_without_a_home_there_is_nothing_to_change(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnwritable, match="no home folder"):
        users_file(places(None, {}, tmp_path))


def test_no_change_is_lost_when_several_are_made_at_once(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    names = [f"c{at}" for at in range(8)]
    threads = [
        threading.Thread(target=change, args=(path, lambda text, name=name: text + added(name)))
        for name in names
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(line[10:-1] for line in path.read_text().splitlines() if "[" in line) == names


def test_a_text_is_put_only_over_the_one_that_it_was_made_from(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"

    put_over(path, None, "timeout = 1\n")
    put_over(path, "timeout = 1\n", "timeout = 2\n")
    for stale in (None, "timeout = 1\n"):
        with pytest.raises(ConfigChanged, match="was changed by another command"):
            put_over(path, stale, "timeout = 3\n")
    assert path.read_text() == "timeout = 2\n"

    path.write_bytes(b"\xff")
    with pytest.raises(ConfigChanged, match="is not UTF-8 text"):
        put_over(path, "timeout = 2\n", "timeout = 3\n")


def test_what_is_wrong_with_a_text_is_told_without_a_file(tmp_path: Path) -> None:
    assert problems_of("timeout = 1\n", tmp_path / "c") == []
    assert problems_of("timeout = 0\n", tmp_path / "c") == [
        f"{tmp_path / 'c'}:1: timeout must be between 0.001 and 86400, not 0"
    ]
