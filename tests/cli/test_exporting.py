"""The history of a recording: as much of it as can be read, and in two forms."""

from pathlib import Path

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.sources.recordings import a_recording
from tests.cli.commands.conftest import Cli, cli, state

__all__ = ["cli", "state"]


def test_what_is_whole_of_a_torn_recording_is_printed_with_a_note(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    a_recording(path, looks=20, instances=2)
    path.write_bytes(path.read_bytes()[:-5])

    said = cli("export", "history", "--recording", str(path), "--columns", "id,state")

    assert said.code == Exit.OK
    assert "ends within a part" in said.err
    assert 10 < len(said.out.splitlines()) < 41


def test_a_damaged_part_costs_its_looks_and_no_others(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    a_recording(path, looks=20, instances=2)
    data = bytearray(path.read_bytes())
    start = len(data) - 200
    data[start] ^= 0xFF
    path.write_bytes(bytes(data))

    said = cli("export", "history", "--recording", str(path), "--columns", "id")

    assert said.code == Exit.OK
    assert "is damaged at byte" in said.err
    assert len(said.out.splitlines()) > 10


@pytest.mark.parametrize("form", ["json", "table", "name"])
def test_a_history_has_the_forms_that_need_no_whole(cli: Cli, tmp_path: Path, form: str) -> None:
    a_recording(tmp_path / "a.rec", looks=2)

    said = cli("export", "history", "--recording", str(tmp_path / "a.rec"), "-o", form)

    assert said.code == Exit.USAGE
    assert f"there is no {form} of a history" in said.err
