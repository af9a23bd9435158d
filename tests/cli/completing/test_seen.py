"""What was seen is remembered by its Proxy, within bounds, and never an error."""

import os
from pathlib import Path

import pytest

from cacheroute_cli.completing.seen import MAX_IDS, Seen, recall, remember

URL = "http://127.0.0.1:8002"


def test_what_was_seen_last_is_recalled(tmp_path: Path) -> None:
    remember(URL, instances=["b", "a"], root=tmp_path)
    remember(URL, proxy_id="proxy-a", root=tmp_path)
    remember("http://other:1", instances=["c"], root=tmp_path)

    assert recall(URL, root=tmp_path) == Seen(proxy_id="proxy-a", instances=["a", "b"])
    assert recall("http://none:1", root=tmp_path) == Seen()


def test_an_empty_pool_is_news(tmp_path: Path) -> None:
    remember(URL, instances=["a"], root=tmp_path)
    remember(URL, instances=[], root=tmp_path)

    assert list(recall(URL, root=tmp_path).instances) == []


def test_what_is_known_is_not_written_again(tmp_path: Path) -> None:
    remember(URL, instances=["a"], root=tmp_path)
    [path] = (tmp_path / "seen").iterdir()
    before = path.stat().st_ino

    remember(URL, instances=["a"], root=tmp_path)

    assert path.stat().st_ino == before


def test_names_that_no_line_should_hold_are_left_out(tmp_path: Path) -> None:
    remember(URL, instances=["ok", "", "a\nb", "\x1b[2J", "x" * 201], root=tmp_path)

    assert list(recall(URL, root=tmp_path).instances) == ["ok"]


def test_a_huge_pool_is_cut(tmp_path: Path) -> None:
    remember(URL, instances=[f"i-{at:06}" for at in range(MAX_IDS + 5)], root=tmp_path)

    assert len(recall(URL, root=tmp_path).instances) == MAX_IDS


@pytest.mark.parametrize("text", ["", "[]", "{", '{"instances": 3, "proxy_id": 4}', "null"])
def test_a_spoilt_file_is_as_if_nothing_had_been_seen(tmp_path: Path, text: str) -> None:
    remember(URL, instances=["a"], root=tmp_path)
    [path] = (tmp_path / "seen").iterdir()
    path.write_text(text)

    assert recall(URL, root=tmp_path) == Seen()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "seen").touch()

    remember(URL, instances=["a"], root=tmp_path)

    assert recall(URL, root=tmp_path) == Seen()


def test_the_proxies_seen_longest_ago_are_forgotten(tmp_path: Path) -> None:
    for at in range(101):
        remember(f"http://h:{at + 1}", instances=["a"], root=tmp_path)
        for path in (tmp_path / "seen").glob(f"*:{at + 1}.json"):
            os.utime(path, ns=(at, at))
    remember("http://h:999", instances=["a"], root=tmp_path)

    assert len(list((tmp_path / "seen").iterdir())) == 100
    assert recall("http://h:1", root=tmp_path) == Seen()
    assert recall("http://h:999", root=tmp_path) != Seen()
