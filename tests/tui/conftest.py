"""Pictures of screens as text files, and a time of day that is the same everywhere."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.tui.idle import cheap_apps

PICTURES = Path(__file__).parent / "__snapshots__"
Picture = Callable[[str, str], None]
"""Compares a text with the picture of a name."""


@pytest.fixture(autouse=True, scope="session")
def cheap() -> Iterator[None]:
    """Let no app wait or parse more than it needs."""
    with cheap_apps():
        yield


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the time of day be that of UTC, and colours be allowed."""
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("NO_COLOR", raising=False)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Picture:
    """Compare with a picture that is kept; `--snapshot-update` takes the new one."""

    def compare(name: str, text: str) -> None:
        kept = PICTURES / f"{name}.txt"
        if request.config.getoption("--snapshot-update"):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(text + "\n", encoding="utf-8")
        assert kept.exists(), f"there is no picture {kept.name}; --snapshot-update makes it"
        assert text.splitlines() == kept.read_text(encoding="utf-8").splitlines()

    return compare
