"""Which pager reads, and what stands where there is none."""

from pathlib import Path

from cacheroute_tui.terminal_programs import pager_command, read_in_pager
from tests.tui.showing import console, shown


def _program(folder: Path, name: str) -> None:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def test_the_readers_own_pager_comes_first(tmp_path: Path) -> None:
    for name in ("mine", "less"):
        _program(tmp_path, name)

    assert pager_command({"PAGER": "mine -R", "PATH": str(tmp_path)}) == ["mine", "-R"]
    assert pager_command({"PAGER": "absent", "PATH": str(tmp_path)}) == ["less", "-S"]
    assert pager_command({"PAGER": "'", "PATH": str(tmp_path)}) == ["less", "-S"]
    assert pager_command({"PATH": str(tmp_path / "none")}) is None


async def test_where_the_terminal_cannot_be_given_away_it_is_told(tmp_path: Path) -> None:
    app = console()
    async with shown(app):
        told = read_in_pager(app, tmp_path / "log.txt")

    assert told is not None
    assert "cannot give away" in told or "no pager" in told
