"""`cacheroute export`: a list for a spreadsheet."""

import csv
import io
import json
from pathlib import Path

from cacheroute.console.kinds import KINDS
from cacheroute_cli.commands import export
from cacheroute_cli.diagnostics import Exit
from tests.cacheroute.sources.recordings import a_recording
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies

POOL = our_replies(
    an_instance("a", tags=["x", "y"]), an_instance("gone", is_alive=False, last_seen_at=900)
)


def test_all_rows_and_columns_come_as_csv(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("export", "instances", "--proxy-url", url)

    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [(row["id"], row["state"], row["tags"]) for row in rows] == [
        ("a", "alive", "x y"),
        ("gone", "dead", ""),
    ]
    assert rows[0]["gpu_util"] == ""


def test_every_list_can_be_exported(cli: Cli) -> None:
    assert set(export.KINDS) <= set(KINDS)
    with a_control_plane(POOL) as url:
        for kind in export.KINDS:
            said = cli("export", kind, "--proxy-url", url)
            assert said.code == Exit.OK
            assert "," in said.out.splitlines()[0]


def test_another_format_can_be_asked_for(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("export", "instances", "-o", "json", "--proxy-url", url)

    assert said.document["total"] == 2


def test_a_list_that_is_none_is_a_wrong_usage(cli: Cli) -> None:
    said = cli("export", "instnaces")

    assert said.code == Exit.USAGE
    assert "did you mean 'instances'?" in said.err


def test_a_history_is_every_look_of_a_recording_an_instance_a_line(
    cli: Cli, tmp_path: Path
) -> None:
    a_recording(tmp_path / "a.rec", looks=8, instances=3)

    said = cli("export", "history", "--recording", str(tmp_path / "a.rec"))

    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert len(rows) == 24
    assert {row["id"] for row in rows} == {"inst-9001", "inst-9002", "inst-9003"}
    assert [row["generated_at"] for row in rows[::3]] == sorted(
        {row["generated_at"] for row in rows}
    )
    assert said.code == Exit.OK


def test_a_history_can_be_filtered_and_come_as_json_lines(cli: Cli, tmp_path: Path) -> None:
    a_recording(tmp_path / "a.rec", looks=4, instances=3)

    said = cli(
        "export", "history", "--recording", str(tmp_path / "a.rec"), "-o", "jsonl",
        "-f", "id:inst-9002",
    )  # fmt: skip

    rows = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["schema"], row["id"]) for row in rows] == [
        ("cacheroute.history.row/1", "inst-9002")
    ] * 4
    assert rows[0]["at"] == "2023-11-14T22:13:21.000Z"


def test_a_history_needs_a_recording_and_only_a_history_takes_one(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "b.rec").write_text("hello")

    assert "name its file with --recording" in cli("export", "history").err
    assert cli("export", "history").code == Exit.USAGE
    other = cli("export", "instances", "--recording", "x")
    assert (other.code, "is for the list history" in other.err) == (Exit.USAGE, True)
    wrong = cli("export", "history", "--recording", str(tmp_path / "b.rec"))
    assert (wrong.code, "is no recording" in wrong.err) == (Exit.USAGE, True)
