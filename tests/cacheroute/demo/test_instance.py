"""The program itself: real processes on the loopback, ended by their pid."""

import asyncio
import contextlib
import signal
import socket
from functools import partial

import httpx
import pytest

from cacheroute.member.peer import Peer, PeerFault
from cacheroute.member.running import EXIT_CANNOT_LISTEN
from tests.cacheroute.demo.live import chat_body
from tests.cacheroute.member.control_plane import control_plane
from tests.cacheroute.member.test_resource_agent import free_port
from tests.support.programs import ended, listening, started

program = partial(listening, "cacheroute.demo.instance")


@pytest.mark.parametrize("each", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_without_a_word(each: signal.Signals) -> None:
    async with program() as (process, url):
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            assert (await http.get("/health")).status_code == 200
        process.send_signal(each)
        assert await ended(process) == (0, "")


async def test_running_answers_may_end_when_it_is_told_to_stop() -> None:
    async with (
        program() as (process, url),
        httpx.AsyncClient(base_url=url, trust_env=False) as http,
    ):
        body = chat_body("hi", model="demo-8b", max_tokens=30, stream=True)
        async with http.stream("POST", "/v1/chat/completions", json=body) as answer:
            process.send_signal(signal.SIGTERM)
            text = (await answer.aread()).decode()
        assert text.endswith("data: [DONE]\n\n")
        assert await ended(process) == (0, "")


async def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        code, errors = await ended(await started("cacheroute.demo.instance", "--port", port))
    assert code == EXIT_CANNOT_LISTEN
    assert errors.startswith(f"cacheroute: error: cannot listen on 127.0.0.1:{port}: ")
    assert errors.count("\n") == 1


async def test_it_joins_a_pool_reports_its_host_and_leaves() -> None:
    agent_port = free_port()
    async with (
        control_plane() as plane,
        program(
            "--proxy-cp-url", plane.url, "--agent-port", str(agent_port), "--instance-id", "i-1",
            "--report-interval-s", "0.05", "--tags", "a,b", "--weight", "2",
        ) as (process, url),
    ):  # fmt: skip
        registered = await plane.next("register")
        assert (registered["instance_id"], registered["host"]) == ("i-1", "127.0.0.1")
        assert (registered["tags"], registered["weight"]) == (["a", "b"], 2.0)
        assert str(registered["port"]) == url.rsplit(":", 1)[-1]
        assert registered["meta"]["cp_port"] == registered["port"]
        assert (await plane.next("heartbeat"))["capability_fingerprint"] == "sha256:ab"
        report = await plane.next("resource_snapshot")
        assert report["snapshot"]["schema_version"] == "resource_snapshot_v1"
        process.send_signal(signal.SIGTERM)
        code, errors = await ended(process)
        assert await plane.next("unregister") == {"instance_id": "i-1"}
    assert code == 0
    assert [line.split(":")[0] for line in errors.splitlines()] == [
        "registration",
        "resource agent",
    ]
    async with Peer(f"http://127.0.0.1:{agent_port}") as agent:
        with pytest.raises(PeerFault):
            await agent.get("/healthz")


async def test_it_tells_the_proxy_and_a_knowledge_node_of_each_other() -> None:
    async with control_plane() as plane, control_plane() as node:
        target = f"127.0.0.1:{node.server.port}"
        async with program(
            "--proxy-cp-url", plane.url, "--no-agent", "--instance-id", "i-1",
            "--kdn-targets", target, "--kv-redis", "redis://127.0.0.1:1/0",
        ) as (process, url):  # fmt: skip
            registered = await plane.next("register")
            features = registered["capabilities"]["runtime"]["supported_cache_features"]
            assert "kv_injection" in features
            report = await plane.next("report")
            assert list(report["links"]) == ["kdn-1", f"kdn://{target}"]
            assert (await node.next("hello"))["instance_port"] == registered["port"]
            async with Peer(url) as instance:
                order = {"kdn_addr": target, "model": "m", "knowledge_ids": ["a"], "request_id": 1}
                told = await instance.post("/v1/kv/inject_ready", order)
            assert told["injected_kids"] == ["a"]
            assert (await node.next("inject_ready_kv"))["redis_port"] == 1
            process.send_signal(signal.SIGTERM)
            code, errors = await ended(process)
    assert code == 0
    said = [line.split(": ")[0] for line in errors.splitlines()]
    assert said == ["registration", f"kdn {target}", "topology"]


async def test_its_agent_does_not_outlive_it_however_it_dies() -> None:
    agent_port = free_port()
    async with (
        control_plane() as plane,
        program("--proxy-cp-url", plane.url, "--agent-port", str(agent_port)) as (process, _),
        Peer(f"http://127.0.0.1:{agent_port}") as agent,
    ):
        await plane.next("resource_snapshot")
        assert await agent.get("/healthz") == {"ok": True}
        process.kill()
        await ended(process)
        async with asyncio.timeout(20):
            with contextlib.suppress(PeerFault):
                while True:
                    await agent.get("/healthz")
                    await asyncio.sleep(0.01)


async def test_it_waits_for_a_proxy_that_starts_later() -> None:
    port = free_port()
    async with program("--proxy-cp-url", f"http://127.0.0.1:{port}", "--no-agent") as (_, url):
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            assert (await http.get("/health")).status_code == 200
        async with control_plane(port) as plane:
            assert await plane.next("register")
            await plane.next("heartbeat")
            assert "resource_snapshot" not in plane.told
