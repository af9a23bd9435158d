"""Links to knowledge nodes, measured over real sockets; nodes and Proxy note what they are told."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from cacheroute.formats.address import Address
from cacheroute.member.kdn_links import KdnLinks, interface_to
from cacheroute.member.peer import Peer
from cacheroute.member.registration import Registration
from cacheroute.wire.topology import TopologyReportBody
from tests.cacheroute.member.control_plane import ControlPlane, control_plane
from tests.cacheroute.member.test_resource_agent import free_port


@contextlib.asynccontextmanager
async def reporting(
    plane: ControlPlane,
    *targets: Address,
    interval_s: float = 1000.0,
    heartbeat_s: float | None = None,
    **options: Any,
) -> AsyncIterator[Registration]:
    """Measure and report for as long as the block lasts, as a registered Instance."""
    async with Peer(plane.url) as proxy, asyncio.TaskGroup() as group:
        registration = Registration(
            proxy, {"instance_id": "i-1"}, load=dict, heartbeat_s=heartbeat_s
        )
        links = KdnLinks(
            targets,
            proxy,
            registration,
            host="127.0.0.1",
            port=9001,
            interval_s=interval_s,
            default_bandwidth_mbps=1000.0,
            **options,
        )
        task = group.create_task(links.run())
        registration.registered.set()
        yield registration
        task.cancel()


def address_of(node: ControlPlane) -> Address:
    return Address("127.0.0.1", node.server.port)


async def test_a_node_is_reported_under_both_its_keys() -> None:
    async with control_plane() as plane, control_plane() as node:
        async with reporting(plane, address_of(node)):
            report = await plane.next("report")
            hello = await node.next("hello")
        assert node.told["ping"].qsize() == 3
    assert hello == {"instance_id": "i-1", "instance_host": "127.0.0.1", "instance_port": 9001}
    assert report["instance_id"] == "i-1"
    assert list(report["links"]) == ["kdn-1", f"kdn://127.0.0.1:{node.server.port}"]
    one, two = report["links"].values()
    assert one == two
    assert one.pop("latency_ms") > 0
    assert one == {"bandwidth_mbps": 1000.0, "iface": "lo", "measured_by": "i-1"}
    assert len(TopologyReportBody.model_validate(report).links) == 2


async def test_a_node_that_tells_its_bandwidth_is_believed() -> None:
    async with control_plane() as plane, control_plane() as node:
        node.answer("hello", (200, {"kdn_id": "k", "link_bandwidth_mbps": 200}))
        async with reporting(plane, address_of(node)):
            report = await plane.next("report")
    assert report["links"]["k"]["bandwidth_mbps"] == 200.0


@pytest.mark.parametrize(
    ("speed", "expected"),
    [("2500\n", 2500.0), ("-1\n", 1000.0), ("", 1000.0)],
)
async def test_else_the_interface_tells_it(tmp_path: Path, speed: str, expected: float) -> None:
    (tmp_path / "lo").mkdir()
    (tmp_path / "lo" / "speed").write_text(speed)
    async with control_plane() as plane, control_plane() as node:
        node.answer("hello", (200, {"link_bandwidth_mbps": 0}))
        async with reporting(plane, address_of(node), sys_class_net=tmp_path):
            report = await plane.next("report")
    (link,) = report["links"].values()
    assert link["bandwidth_mbps"] == expected


async def test_a_node_that_does_not_answer_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    gone = Address("127.0.0.1", free_port())
    async with (
        control_plane() as plane,
        control_plane() as node,
        reporting(plane, gone, address_of(node), interval_s=0.02),
    ):
        reports = [await plane.next("report") for _ in range(3)]
        node.answer("ping", (500, b""))
        async with asyncio.timeout(20):
            while (await plane.next("report"))["links"]:
                pass
    assert all(len(report["links"]) == 2 for report in reports)
    said = [line.split(": ")[0:2] for line in capsys.readouterr().err.splitlines()]
    assert said.count([f"kdn {gone}", "not reported"]) == 1
    assert said.count([f"kdn {address_of(node)}", "not reported"]) == 1


async def test_nothing_is_reported_before_the_instance_is_in_the_pool() -> None:
    async with (
        control_plane() as plane,
        control_plane() as node,
        reporting(plane, address_of(node), interval_s=0.01) as registration,
    ):
        registration.registered.clear()
        await asyncio.sleep(0.05)
        assert "report" not in plane.told
        registration.registered.set()
        assert await plane.next("report")


async def test_a_proxy_that_has_forgotten_everything_is_told_at_once() -> None:
    async with control_plane() as plane, control_plane() as node:
        plane.answer("heartbeat", (200, {"ok": False}))
        async with (
            Peer(plane.url) as proxy,
            reporting(plane, address_of(node), heartbeat_s=0.05) as registration,
            asyncio.TaskGroup() as group,
        ):
            assert proxy.base_url == plane.url
            registration.interval_s = 0.05  # as if it had registered itself
            keeping = group.create_task(registration.run())
            for _ in range(3):
                assert len((await plane.next("report"))["links"]) == 2
            keeping.cancel()
        assert plane.told["register"].qsize() >= 2


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((500, b"broken"), "could not report: "),
        ((200, {"ok": False, "error": "unknown_instance"}), "refused the links: unknown_instance"),
    ],
)
async def test_a_proxy_that_does_not_want_links_is_said_once(
    answer: tuple[int, object], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with control_plane() as plane, control_plane() as node:
        plane.answer("report", answer)
        async with reporting(plane, address_of(node), interval_s=0.01):
            for _ in range(3):
                await plane.next("report")
    assert capsys.readouterr().err.count(said) == 1


def test_an_address_that_nothing_leads_to_has_no_interface() -> None:
    assert interface_to(Address("127.0.0.1", 1)) == "lo"
    assert interface_to(Address("no-such-host.invalid", 1)) is None


@pytest.mark.parametrize("told", [10**400, -1, "fast", None])
async def test_a_bandwidth_that_cannot_be_is_not_believed(told: object, tmp_path: Path) -> None:
    async with control_plane() as plane, control_plane() as node:
        node.answer("hello", (200, json.dumps({"link_bandwidth_mbps": told}).encode()))
        async with reporting(plane, address_of(node), sys_class_net=tmp_path):
            report = await plane.next("report")
    (link,) = report["links"].values()
    assert link["bandwidth_mbps"] == 1000.0
