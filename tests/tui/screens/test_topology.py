"""The screen of topology: the chain, the links, who reported the best, and faults alone."""

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import structs

from cacheroute.console.rows.topology import LinkRow
from cacheroute.console.source import NotTold
from cacheroute.wire.console import KdnNodes, SchedulerSide
from tests.tui.fleet import StillFleet, drawn_fleet
from tests.tui.operated import Operated
from tests.tui.screens.requests import link
from tests.tui.showing import NARROW, WIDE, settle, shown, text_of


class _NoLinks(StillFleet):
    async def topology(self) -> Sequence[LinkRow]:
        """Have none."""
        raise NotTold("topology", "this Proxy tells no topology")


def _fleet() -> StillFleet:
    source = StillFleet(drawn_fleet())
    source.links = [
        link("kdn-1", "inst-9001", 820.0, best=True, metrics={"iface": "[eth0]"}),
        link("kdn-1", "inst-9003", 900.0, state="stale"),
        link("kdn-1", "static", 90.0),
        link("知识-[b]", "inst-9002", None),
    ]
    return source


async def test_the_way_of_a_request_is_drawn_with_every_link(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="topology")
    async with shown(operated.app, WIDE):
        lines = [line.rstrip() for line in text_of(operated.app).splitlines()]

    assert lines[2:16] == [
        " Client",
        "   └─▶ Scheduler ● registered  http://127.0.0.1:7002  heard 0.8s ago",
        "         └─▶ Proxy proxy-a  127.0.0.1:8002  least_load",
        "               └─▶ Instances 8  ● 5 alive  ■ 1 draining  ◐ 1 stale  ✕ 1 dead",
        "",
        " how nodes are and what waits there: the Proxy does not tell",
        " kdn-1  best 820 Mbps · 1.9ms  reported by inst-9001",
        "   ├─ ► inst-9001  ● alive        820 Mbps · 1.9ms   0.4s  iface=[eth0]",
        "   ├─   inst-9003  ◐ stale        900 Mbps · 1.9ms   0.4s",
        "   └─   static     ■ settings      90 Mbps · 1.9ms      —",
        "",
        " 知识-[b]  ✕ no link counts",
        "   └─   inst-9002  ● alive               ? · 1.9ms   0.4s",
        "",
    ]
    assert " Instances that reported no link: 5" in lines


async def test_f_leaves_what_is_wrong(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="topology")
    async with shown(operated.app, NARROW) as pilot:
        await pilot.press("f")
        await settle(pilot)
        text = text_of(operated.app)

        assert "inst-9003  ◐ stale" in text
        assert "知识" in text
        assert "static" not in text
        assert "inst-9010" in text
        assert "faults only" in text
        await pilot.press("Y", "f")
        await settle(pilot)
        [copied] = operated.clipboard.texts
        assert [one["reported_by"] for one in json.loads(copied)] == ["inst-9003", "inst-9002"]
        assert "static" in text_of(operated.app)


async def test_a_proxy_without_a_scheduler_is_drawn_so(tmp_path: Path) -> None:
    document = structs.replace(drawn_fleet(), scheduler=SchedulerSide(state="off"))
    operated = Operated(tmp_path, StillFleet(document), screen="topology")
    async with shown(operated.app):
        assert "no Scheduler" in text_of(operated.app)


async def test_a_proxy_that_tells_no_topology_says_why_and_the_rest_is_there(
    tmp_path: Path,
) -> None:
    operated = Operated(tmp_path, _NoLinks(drawn_fleet()), screen="topology")
    async with shown(operated.app):
        text = text_of(operated.app)

    assert "links to knowledge nodes: this Proxy tells no topology" in text
    assert "5 alive" in text


async def test_nodes_that_there_was_no_room_for_are_counted(tmp_path: Path) -> None:
    source = _fleet()
    source.document = structs.replace(source.document, kdn=KdnNodes(nodes=["kdn-1"], left_out=7))
    operated = Operated(tmp_path, source, screen="topology")
    async with shown(operated.app, WIDE):
        assert " 7 more nodes are not told of" in text_of(operated.app)


async def test_a_terminal_with_letters_only_gets_letters_only(tmp_path: Path) -> None:
    operated = Operated(tmp_path, _fleet(), screen="topology", ascii=True)
    async with shown(operated.app, WIDE):
        text = text_of(operated.app)

    assert text.isascii()
    assert "   `-> Scheduler * registered" in text
    assert "   |- > inst-9001  * alive " in text


async def test_each_node_says_whether_it_answers_and_what_waits_there(tmp_path: Path) -> None:
    source = _fleet()
    source.document = structs.replace(
        source.document,
        kdn=KdnNodes(
            nodes=["other:9101", "kdn-1", "知识-[b]"],
            answers=[False, True, None],
            state_age_s=[41.0, 60.0, None],
            asked_age_s=[3.0, 0.5, None],
            error=["other:9101 refused the connection.", None, None],
            running=[0, 2, 0],
            waiting=[0, 6, 0],
        ),
    )
    operated = Operated(tmp_path, source, screen="topology")
    async with shown(operated.app, WIDE) as pilot:
        lines = [line.rstrip() for line in text_of(operated.app).splitlines()]
        await pilot.press("f")
        await settle(pilot)
        faults = text_of(operated.app)

    assert lines[7:9] == [
        " kdn-1  best 820 Mbps · 1.9ms  reported by inst-9001",
        "   ● answers for 1m  asked 0.5s ago  sends 2  queue 6",
    ]
    assert "   ○ not asked  sends 0  queue 0" in lines
    at = lines.index(" other:9101  no link is known")
    assert lines[at + 1 : at + 3] == [
        "   ▲ fails for 41s  asked 3.0s ago  sends 0  queue 0",
        "     other:9101 refused the connection.",
    ]
    assert "other:9101" in faults
