"""Processes on stdout: after a change, before one, and as a list."""

import json

import pytest

from cacheroute_cli.context import Context
from cacheroute_cli.process_printing import print_plans, print_statuses
from cacheroute_cli.supervisor.process import PlannedPort
from cacheroute_cli.supervisor.stack_home import ProcessStatus
from tests.cli.schemas.shapes import flaws_of
from tests.cli.supervisor.stacks import a_plan

FAILED = ProcessStatus(
    name="bad", kind="instance", stack="s", state="failed", ready=False, restarts=5, last_exit=3,
    why="ended with exit 3, after 5 restarts in 60 s",
)  # fmt: skip


def test_what_has_failed_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    print_statuses(Context(output="table"), "s", [FAILED])

    header, row = capsys.readouterr().out.splitlines()
    assert header.endswith("WHY")
    assert row.split()[:5] == ["bad", "instance", "—", "failed", "no"]
    assert row.endswith("ended with exit 3, after 5 restarts in 60 s")


def test_names_and_ports_are_whole_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    statuses = [
        ProcessStatus(
            name=name, kind="instance", stack="s", state="running", ready=True, argv=(),
            ports={"a": 58001, "b": 58002}, urls={},
        )
        for name in ("instance-1", "instance-2", "hp_127.0.0.1:58001")
    ]  # fmt: skip

    print_statuses(Context(output="table"), "s", statuses)

    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["NAME", "PID", "STATE", "READY"]
    assert [row.split()[0] for row in rows] == [status.name for status in statuses]
    assert all(row.endswith("58001 58002") and len(row) <= 80 for row in rows)


def test_a_document_has_every_key_and_null_for_what_nobody_knows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_statuses(Context(output="json"), "s", [FAILED])

    document = json.loads(capsys.readouterr().out)
    assert flaws_of(document) == []
    assert document["stack"] == "s"
    assert document["items"][0]["pid"] is None


def test_plans_are_shown_with_their_ports(capsys: pytest.CaptureFixture[str]) -> None:
    port = PlannedPort(name="service", host="h", port=8001)

    print_plans(Context(output="plain"), "s", [a_plan("p", kind="proxy", ports=(port,))])

    assert capsys.readouterr().out.split("\t")[:4] == ["p", "proxy", "—", "planned"]
