"""The arguments of the console: what they are read as, and what is refused before it begins."""

import gc
import os
from collections.abc import Iterator

import pytest

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_tui.__main__ import SCREEN_NAMES, _size_of, main
from cacheroute_tui.app import SCREENS


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Undo what the console does to its process: garbage is kept, and variables are set."""
    before = dict(os.environ)
    yield
    gc.enable()
    os.environ.clear()
    os.environ.update(before)


def test_every_screen_with_a_key_can_be_asked_for_by_its_name() -> None:
    assert sorted(SCREEN_NAMES) == sorted(screen.NAME for screen in SCREENS)


def test_a_size_is_columns_by_lines() -> None:
    assert _size_of("120x36") == (120, 36)

    for text in ("80", "80x", "x24", "1000x24", "80x24 "):
        with pytest.raises(UsageFault, match="--size is such as 80x24"):
            _size_of(text)


def test_a_size_that_cannot_be_read_ends_the_run_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--demo", "--once", "--size=huge"]) == 2
    assert "not 'huge'" in capsys.readouterr().err


def test_an_unknown_screen_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--screen=nowhere"])

    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert all(name in told for name in ("nowhere", *SCREEN_NAMES))
