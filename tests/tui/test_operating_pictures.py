"""Pictures of special states: links, a waterfall, processes, questions and outputs."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from cacheroute.wire.console import KdnNodes
from cacheroute_cli.supervisor.log_lines import LogLine
from cacheroute_tui.screens.command_output import CommandOutput
from cacheroute_tui.widgets.confirm import Confirm
from tests.tui.conftest import Picture
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import KeptProcesses, Operated, at, until, until_shown
from tests.tui.screens.requests import decided, link, plain_request, process, request
from tests.tui.showing import NARROW, WIDE, shown, text_of


def _fleet() -> StillFleet:
    nodes = KdnNodes(
        nodes=["kdn-2", "kdn-1"], answers=[False, True], state_age_s=[41.0, 7_200.0],
        asked_age_s=[3.0, 0.4], error=["kdn-2 refused the connection.", None], running=[0, 2],
        waiting=[0, 6],
    )  # fmt: skip
    source = StillFleet(replace(drawn_fleet(), kdn=nodes))
    source.links = [
        link("kdn-1", "inst-9001", 820.0, best=True),
        link("kdn-1", "inst-9003", 900.0, state="stale"),
        link("kdn-2", "static", 90.0, best=True),
        link("知识库-[b]一个很长的名字[/b]", "inst-9002", None, metrics={"iface": "[eth0]"}),
    ]
    source.requests = [
        request(3, "r-3"), plain_request(2, "r-[i]二[/i]"), request(1, "r-1", e2e_ms=9_000.0)
    ]  # fmt: skip
    source.choices = [decided("r-3")]
    return source


@pytest.mark.parametrize(("size", "name"), [(NARROW, "80x24"), (WIDE, "160x48")])
async def test_links(size: tuple[int, int], name: str, tmp_path: Path, picture: Picture) -> None:
    operated = Operated(tmp_path, _fleet(), screen="topology")
    async with shown(operated.app, size):
        picture(f"topology-links-{name}", text_of(operated.app))


@pytest.mark.parametrize(("size", "name"), [(NARROW, "80x24"), (WIDE, "160x48")])
async def test_a_waterfall(
    size: tuple[int, int], name: str, tmp_path: Path, picture: Picture
) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces")
    async with shown(operated.app, size):
        picture(f"traces-waterfall-{name}", text_of(operated.app))


async def test_a_waterfall_in_letters(tmp_path: Path, picture: Picture) -> None:
    operated = Operated(tmp_path, _fleet(), screen="traces", ascii=True)
    async with shown(operated.app):
        picture("traces-waterfall-ascii-80x24", text_of(operated.app))


async def test_processes(tmp_path: Path, picture: Picture) -> None:
    operated = Operated(tmp_path, screen="processes")
    operated.processes = KeptProcesses(
        [process("proxy"), process("inst-1", ready=False), process("inst-2", "failed")],
        [
            LogLine(at_s=1.0, name="proxy", text="listening on [127.0.0.1]:8001"),
            LogLine(at_s=2.0, name="inst-1", text="\x1b[31merror\x1b[0m 一二三 [b]not bold[/b]"),
        ],
    )
    operated.app.processes = operated.processes
    async with shown(operated.app) as pilot:
        await until_shown(pilot, "listening")
        picture("processes-stack-80x24", text_of(operated.app))


async def test_a_question(tmp_path: Path, picture: Picture) -> None:
    operated = Operated(tmp_path, write=True, label="[LAB]")
    async with shown(operated.app) as pilot:
        await at(pilot, "inst-9001")
        await pilot.press("d")
        await until(pilot, lambda: isinstance(operated.app.screen, Confirm))
        picture("confirm-drain-80x24", text_of(operated.app).rstrip())


async def test_an_output(tmp_path: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        operated.app.run_line("explain iws")
        await until_shown(pilot, "exit ")
        assert isinstance(operated.app.screen, CommandOutput)
        picture("command-output-80x24", text_of(operated.app).rstrip())


async def test_a_line_with_what_it_may_become(
    tmp_path: Path, picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    operated = Operated(tmp_path)
    async with shown(operated.app) as pilot:
        await operated.app.known_commands()
        await pilot.press("colon", *"sc", "tab")
        await until_shown(pilot, "scheduler")
        picture("command-line-80x24", text_of(operated.app))
