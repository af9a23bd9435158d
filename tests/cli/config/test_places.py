"""Where the configuration is looked for."""

from pathlib import Path

import pytest

from cacheroute_cli.config.places import places


def test_the_folders_are_those_of_xdg(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": "/home/me/cfg", "XDG_CONFIG_DIRS": "/a:relative:/b"}

    where = places(None, environ, tmp_path)

    assert where.user == Path("/home/me/cfg/cacheroute/config.toml")
    assert where.system == (Path("/a/cacheroute/config.toml"), Path("/b/cacheroute/config.toml"))
    assert not where.is_named
    assert where.stack is None


def test_without_them_it_is_the_home_and_etc(tmp_path: Path) -> None:
    where = places(None, {"HOME": "/home/me", "XDG_CONFIG_HOME": "relative"}, tmp_path)

    assert where.user == Path("/home/me/.config/cacheroute/config.toml")
    assert where.system == (Path("/etc/xdg/cacheroute/config.toml"),)


def test_without_a_home_there_is_no_file_of_ones_own(tmp_path: Path) -> None:
    assert places(None, {}, tmp_path).user is None


def test_a_file_that_is_named_takes_the_place_of_ones_own(tmp_path: Path) -> None:
    environ = {"HOME": "/home/me", "CACHEROUTE_CONFIG": "/from/variable.TOML"}

    assert places("/typed.toml", environ, tmp_path).user == Path("/typed.toml")
    assert places(None, environ, tmp_path).user == Path("/from/variable.TOML")
    assert places(None, environ, tmp_path).is_named


def test_the_settings_file_of_a_proxy_is_none_of_ours(tmp_path: Path) -> None:
    environ = {"HOME": "/home/me", "CACHEROUTE_CONFIG": "/etc/gateway.yaml"}

    where = places(None, environ, tmp_path)

    assert where.user == Path("/home/me/.config/cacheroute/config.toml")
    assert not where.is_named


def test_the_stack_file_of_the_folder_is_found_or_named(tmp_path: Path) -> None:
    (tmp_path / "cacheroute.yaml").touch()
    assert places(None, {}, tmp_path).stack == tmp_path / "cacheroute.yaml"

    (tmp_path / "stack.yaml").touch()
    assert places(None, {}, tmp_path).stack == tmp_path / "stack.yaml"

    environ = {"CACHEROUTE_STACK_FILE": "/other.yaml"}
    assert places(None, environ, tmp_path).stack == Path("/other.yaml")


def test_a_home_of_nobody_is_the_name_of_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)

    assert places("~/c.toml", {}, tmp_path).user == Path("/home/me/c.toml")
    assert places("~nobody-at-all/c.toml", {}, tmp_path).user == tmp_path / "~nobody-at-all/c.toml"
