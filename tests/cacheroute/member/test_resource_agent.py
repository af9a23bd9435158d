"""Snapshots on their way from an agent to a Proxy, over real sockets; the agent is real too."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from cacheroute.member.peer import Peer
from cacheroute.member.registration import Registration
from cacheroute.member.resource_agent import AgentProcess, SnapshotReporter
from tests.cacheroute.member.control_plane import ControlPlane, control_plane


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.asynccontextmanager
async def reporting(
    agent_url: str, plane: ControlPlane, listen: str | None = None
) -> AsyncIterator[tuple[AgentProcess, Registration]]:
    """Report from an agent to a control plane for a while."""
    async with Peer(agent_url) as agent_peer, Peer(plane.url) as proxy:
        agent = AgentProcess(agent_peer, listen=listen, instance_id="i-1")
        registration = Registration(proxy, {"instance_id": "i-1"}, load=dict)
        reporter = SnapshotReporter(agent, proxy, registration, interval_s=0.01)
        task = asyncio.ensure_future(reporter.run())
        try:
            yield agent, registration
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await agent.end()


async def test_a_found_agent_is_reported_only_once_the_instance_is_registered() -> None:
    async with (
        control_plane() as plane,
        control_plane() as found,
        reporting(found.url, plane) as (_, registration),
    ):
        await found.next("healthz")
        assert "snapshot" not in found.told
        registration.registered.set()
        report = await plane.next("resource_snapshot")
    assert (report["instance_id"], report["snapshot"]) == ("i-1", {"timestamp_ms": 5})
    metadata = report["metadata"]
    assert (metadata["reported_instance_id"], metadata["agent_snapshot_timestamp_ms"]) == ("i-1", 5)
    assert metadata["report_wall_time_ms"] > 1_700_000_000_000
    assert metadata["report_monotonic_ms"] > 0


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"timestamp_ms": 5}, {"engine": 1}),
        ({"runtime": {"gpu_error": None}}, {"gpu_error": None, "engine": 1}),
        ({"runtime": "none"}, {"engine": 1}),
    ],
)
async def test_what_else_is_known_joins_the_runtime_of_the_snapshot(
    told: dict[str, object], expected: dict[str, object]
) -> None:
    async with (
        control_plane() as plane,
        control_plane() as found,
        Peer(found.url) as agents,
        Peer(plane.url) as proxy,
        asyncio.TaskGroup() as group,
    ):
        found.answer("snapshot", (200, told))
        registration = Registration(proxy, {"instance_id": "i-1"}, load=dict)
        registration.registered.set()
        agent = AgentProcess(agents, listen=None, instance_id="i-1")
        reporter = SnapshotReporter(
            agent, proxy, registration, interval_s=1.0, runtime=lambda: {"engine": 1}
        )
        task = group.create_task(reporter.run())
        report = await plane.next("resource_snapshot")
        task.cancel()
    assert report["snapshot"] == {**told, "runtime": expected}


async def test_an_agent_that_falls_silent_is_looked_for_again() -> None:
    async with control_plane() as plane, control_plane() as found:
        found.answer("snapshot", (200, {"timestamp_ms": 1}), (500, b""), (200, {"timestamp_ms": 2}))
        async with reporting(found.url, plane) as (_, registration):
            registration.registered.set()
            seen = [await plane.next("resource_snapshot") for _ in range(2)]
        assert found.told["healthz"].qsize() == 2
    assert [report["snapshot"]["timestamp_ms"] for report in seen] == [1, 2]


async def test_a_report_that_the_proxy_refuses_does_not_end_reporting() -> None:
    async with control_plane() as plane, control_plane() as found:
        plane.answer("resource_snapshot", (500, b"no"), (200, {"ok": True}))
        async with reporting(found.url, plane) as (_, registration):
            registration.registered.set()
            await plane.next("resource_snapshot")
            await plane.next("resource_snapshot")


async def test_an_agent_is_started_where_none_answers_and_ended_with_us() -> None:
    port = free_port()
    async with control_plane() as plane:
        url = f"http://127.0.0.1:{port}"
        async with reporting(url, plane, f"127.0.0.1:{port}") as (agent, registration):
            registration.registered.set()
            report = await plane.next("resource_snapshot")
            assert report["snapshot"]["schema_version"] == "resource_snapshot_v1"
            assert report["snapshot"]["instance_id"] == "i-1"
            assert await agent.answers()
        async with Peer(url) as peer:
            assert not await AgentProcess(peer, listen=None, instance_id="i-1").answers()


async def test_an_agent_that_somebody_else_runs_is_left_running() -> None:
    async with control_plane() as found, Peer(found.url) as peer:
        agent = AgentProcess(peer, listen="127.0.0.1:1", instance_id="i-1")
        assert await agent.ensure()
        await agent.end()
        assert await agent.answers()


async def test_without_an_agent_and_without_leave_to_start_one_there_is_none() -> None:
    async with Peer(f"http://127.0.0.1:{free_port()}") as peer:
        assert not await AgentProcess(peer, listen=None, instance_id="i-1").ensure()


async def test_a_port_that_a_stranger_holds_has_no_agent() -> None:
    async with control_plane() as stranger:
        stranger.answer("healthz", (404, b""))
        listen = f"127.0.0.1:{stranger.server.port}"
        async with Peer(stranger.url) as peer:
            agent = AgentProcess(peer, listen=listen, instance_id="i-1")
            assert not await agent.ensure()
            await agent.end()
