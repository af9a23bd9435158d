"""A server kept in a pool: both ends play on real sockets, and what lies between is real."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from cacheroute.attach import attachment, faults
from cacheroute.attach.attachment import attach
from cacheroute.attach.options import AttachOptions
from cacheroute.formats.address import Address, parse_base_url
from tests.cacheroute.attach import captured
from tests.cacheroute.attach.engine import Engine, engine
from tests.cacheroute.member.control_plane import REGISTERED, ControlPlane, control_plane
from tests.support.waiting import eventually

HASTE_S = 0.02


def options_for(playing: Engine, plane: ControlPlane, **changes: Any) -> AttachOptions:
    options = AttachOptions(
        origin=parse_base_url(playing.url), proxy_cp_url=plane.url, interval_s=HASTE_S
    )
    return replace(options, **changes)


@contextlib.asynccontextmanager
async def attached(options: AttachOptions) -> AsyncIterator[list[str]]:
    """Keep a server attached for as long as the block lasts; yields what is announced."""
    said: list[str] = []
    task = asyncio.ensure_future(attach(options, on_attached=said.append))
    try:
        yield said
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_server_is_registered_beats_with_its_load_and_leaves() -> None:
    async with engine() as playing, control_plane() as plane:
        playing.answers["/metrics"] = (200, captured.metrics(running=2, waiting=1))
        options = options_for(playing, plane)
        async with attached(options) as said:
            registered = await plane.next("register")
            beat = await plane.next("heartbeat")
        gone = await plane.next("unregister")
    instance_id = f"hp_127.0.0.1:{playing.port}"
    assert said == [f"attached {instance_id} at {playing.url} to {plane.url}"]
    assert (registered["instance_id"], registered["port"]) == (instance_id, playing.port)
    assert registered["endpoints"] == ["chat/completions", "completions", "tokenize"]
    assert (beat["inflight"], beat["gpu_util"]) == (3, None)
    assert beat["capability_fingerprint"] == "sha256:ab"
    assert gone == {"instance_id": instance_id}


async def test_a_proxy_that_has_forgotten_it_is_told_again() -> None:
    async with engine() as playing, control_plane() as plane:
        plane.answer("heartbeat", (200, {"ok": False}), (200, {"ok": True}))
        async with attached(options_for(playing, plane)) as said:
            first = await plane.next("register")
            assert await plane.next("register") == first
            await plane.next("heartbeat")
        assert len(said) == 1


async def test_a_server_that_falls_silent_gets_no_heartbeats_until_it_is_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with engine() as playing, control_plane() as plane, control_plane() as agent:
        options = options_for(playing, plane, agent_url=agent.url)
        async with attached(options):
            await plane.next("register")
            report = await plane.next("resource_snapshot")
            await plane.next("heartbeat")
            playing.answers["/health"] = (503, b"")
            await eventually(lambda: "heartbeats stop" in capsys.readouterr().err, within_s=20)
            plane.told.clear()
            playing.asked.clear()
            await eventually(lambda: len(playing.asked) >= 10, within_s=20)
            assert plane.told == {}
            await playing.close()
            playing.answers["/health"] = (200, b"")
            playing.answers["/v1/models"] = (200, captured.MODELS.replace(b"8192", b"4096"))
            await playing.open()
            again = await plane.next("register")
            await plane.next("heartbeat")
        said = capsys.readouterr().err
    assert report["snapshot"]["runtime"]["engine"]["kind"] == "vllm"
    assert again["meta"]["max_model_len"] == 4096
    assert f"server: {playing.url} answers again" in said


async def test_one_look_that_fails_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    async with engine() as playing, control_plane() as plane:
        async with attached(options_for(playing, plane)):
            await plane.next("register")
            playing.asked.clear()
            playing.answers["/health"] = (500, b"")
            await eventually(lambda: "/health" in playing.paths_asked(), within_s=20)
            playing.answers["/health"] = (200, b"")
            for _ in range(3):
                await plane.next("heartbeat")
        assert plane.told["register"].empty()
    assert "heartbeats stop" not in capsys.readouterr().err


async def test_a_server_that_comes_back_with_another_model_stays_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with engine() as playing, control_plane() as plane:
        options = options_for(playing, plane, model="tiny")
        async with attached(options):
            await plane.next("register")
            await playing.close()
            await eventually(lambda: "heartbeats stop" in capsys.readouterr().err, within_s=20)
            playing.answers["/v1/models"] = (200, json.dumps({"data": [{"id": "big"}]}).encode())
            playing.asked.clear()
            await playing.open()
            await eventually(lambda: playing.paths_asked().count("/v1/models") >= 2, within_s=20)
            assert plane.told["register"].empty()
            playing.answers["/v1/models"] = (200, captured.MODELS)
            await plane.next("register")


async def test_knowledge_nodes_are_measured_for_it() -> None:
    async with engine() as playing, control_plane() as plane, control_plane() as node:
        target = Address("127.0.0.1", node.server.port)
        async with attached(options_for(playing, plane, kdn_targets=(target,))):
            report = await plane.next("report")
            hello = await node.next("hello")
    assert set(report["links"]) == {"kdn-1", f"kdn://{target}"}
    assert hello["instance_port"] == playing.port


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((401, b""), faults.KeyWanted),
        ((404, b""), faults.NotUnderstood),
        ((409, b'{"detail":"It is taken."}'), faults.Taken),
        ((422, b""), faults.AttachFault),
        ((503, b""), faults.NotAnswering),
    ],
)
async def test_a_proxy_that_says_no_at_first_ends_it(
    answer: tuple[int, bytes], kind: type[faults.AttachFault]
) -> None:
    async with engine() as playing, control_plane() as plane:
        plane.answer("register", answer)
        with pytest.raises(faults.AttachFault) as fault:
            await attach(options_for(playing, plane), on_attached=lambda _: None)
        assert "unregister" not in plane.told
    assert type(fault.value) is kind


async def test_who_is_to_wait_waits_for_both(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attachment, "FIRST_RETRY_S", 0.01)
    async with engine() as playing, control_plane() as plane:
        playing.answers["/health"] = (503, b"")
        plane.answer("register", (503, b""), (200, {"instance_id": "i", **REGISTERED}))
        async with attached(options_for(playing, plane, wait_s=60.0)) as said:
            await eventually(lambda: playing.paths_asked().count("/health") >= 2, within_s=20)
            playing.answers["/health"] = (200, b"")
            await plane.next("register")
            await plane.next("register")
            await plane.next("heartbeat")
        assert said == [f"attached i at {playing.url} to {plane.url}"]
    waited = [line for line in capsys.readouterr().err.splitlines() if line.endswith("; waiting")]
    assert [line.split(":")[0] for line in waited] == ["server", "proxy"]


async def test_a_server_with_a_key_is_attached_with_a_word_of_warning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with engine() as playing, control_plane() as plane:
        playing.key = b"k"
        options = options_for(playing, plane, api_key="k", api_key_env="MY_KEY")
        async with attached(options):
            await plane.next("heartbeat")
    assert f"--instance {playing.url},api_key=env:MY_KEY" in capsys.readouterr().err


async def test_an_address_that_means_another_host_to_the_proxy_is_pointed_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert attachment._is_here("http://127.0.0.1:8002")
    assert not attachment._is_here("http://10.0.0.7:8002")
    async with engine() as playing, control_plane() as plane:
        options = options_for(playing, plane)
        async with attached(options):
            await plane.next("heartbeat")
    assert "on its own host" not in capsys.readouterr().err
