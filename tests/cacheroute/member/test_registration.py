"""Registration against a tiny real control plane."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from cacheroute.member.peer import Peer, PeerFault
from cacheroute.member.registration import Registration
from tests.cacheroute.member.control_plane import ControlPlane, control_plane

BODY = {"instance_id": "i-1", "host": "127.0.0.1", "port": 1}
LOAD = {"inflight": 2, "qps_1m": 1.5, "gpu_util": None}


def make(peer: Peer) -> Registration:
    return Registration(peer, BODY, load=lambda: LOAD, backoff_s=(0.01,))


@contextlib.asynccontextmanager
async def kept(plane: ControlPlane) -> AsyncIterator[Registration]:
    """Keep an Instance registered for a while."""
    async with Peer(plane.url) as peer:
        registration = make(peer)
        task = asyncio.ensure_future(registration.run())
        try:
            yield registration
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def test_it_registers_and_then_beats_with_its_load_and_fingerprint() -> None:
    async with control_plane() as plane, kept(plane) as registration:
        assert await plane.next("register") == BODY
        beat = await plane.next("heartbeat")
        assert registration.registered.is_set()
    assert beat == {"instance_id": "i-1", **LOAD, "capability_fingerprint": "sha256:ab"}


async def test_the_id_that_the_proxy_gives_is_the_one_that_counts() -> None:
    async with control_plane() as plane:
        plane.answer("register", (200, {"instance_id": "other", "heartbeat_interval_s": 0.05}))
        async with kept(plane) as registration:
            beat = await plane.next("heartbeat")
        assert registration.instance_id == "other"
    assert beat == {"instance_id": "other", **LOAD}


@pytest.mark.parametrize(
    "told",
    [
        {"ok": False},
        {"ok": False, "error": "unknown_instance"},
        {"ok": False, "error": "capability_fingerprint_mismatch", "requires_capabilities": True},
        {"ok": True, "requires_capabilities": True},
    ],
)
async def test_it_registers_again_when_the_proxy_has_forgotten_it(told: dict[str, Any]) -> None:
    async with control_plane() as plane:
        plane.answer("heartbeat", (200, told), (200, {"ok": True}))
        async with kept(plane) as registration:
            assert await plane.next("register") == BODY
            await registration.again.wait()
            registration.again.clear()
            assert await plane.next("register") == BODY
            await plane.next("heartbeat")
            await plane.next("heartbeat")
            assert registration.again.is_set()
        assert plane.told["register"].empty()


async def test_it_tries_on_while_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    async with control_plane() as plane:
        plane.answer("register", (503, b"no"), (503, b"no"), (200, {"instance_id": "i-1"}))
        async with kept(plane) as registration:
            for _ in range(3):
                await plane.next("register")
            async with asyncio.timeout(20):
                await registration.registered.wait()
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["registration:"] * 2
    assert "answered 503: no; trying on" in lines[0]
    assert lines[1].endswith("as i-1")


async def test_a_heartbeat_that_fails_is_sent_again_and_registers_nothing() -> None:
    async with control_plane() as plane:
        plane.answer("heartbeat", (500, b"broken"), (200, {"ok": True}))
        async with kept(plane) as registration:
            await plane.next("heartbeat")
            await plane.next("heartbeat")
            assert registration.registered.is_set()
        assert plane.told["register"].qsize() == 1


async def test_it_leaves_the_pool_once() -> None:
    async with control_plane() as plane, kept(plane) as registration:
        await plane.next("heartbeat")
        await registration.unregister()
        await registration.unregister()
        assert await plane.next("unregister") == {"instance_id": "i-1"}
        assert plane.told["unregister"].empty()


async def test_who_was_never_in_the_pool_need_not_leave_it() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        await make(peer).unregister()
        assert "unregister" not in plane.told


async def test_a_proxy_that_cannot_be_told_is_no_error() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        plane.answer("unregister", (500, b""))
        registration = make(peer)
        registration.registered.set()
        await registration.unregister()
        assert not registration.registered.is_set()


@pytest.mark.parametrize("interval", [None, "soon", 0, -1, float("nan")])
def test_an_interval_that_makes_no_sense_is_ten_seconds(interval: object) -> None:
    from cacheroute.member.registration import _interval_s

    assert _interval_s({"heartbeat_interval_s": interval}) == 10.0
    assert _interval_s({"heartbeat_interval_s": 3}) == 3.0
    assert _interval_s({"heartbeat_interval_s": 0.001}) == 0.05


async def test_registering_once_says_why_it_failed() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        plane.answer("register", (409, b'{"detail":"It is taken."}'), (200, {"instance_id": "i"}))
        registration = make(peer)
        with pytest.raises(PeerFault, match="It is taken"):
            await registration.register()
        assert not registration.registered.is_set()
        await registration.register()
        assert registration.registered.is_set()


async def test_who_has_registered_already_only_sends_heartbeats() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer, asyncio.TaskGroup() as group:
        registration = make(peer)
        await registration.register()
        task = group.create_task(registration.run())
        await plane.next("heartbeat")
        task.cancel()
        assert plane.told["register"].qsize() == 1


async def test_who_has_fallen_silent_still_leaves_the_pool() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        registration = make(peer)
        await registration.register()
        registration.silence()
        assert not registration.registered.is_set()
        await registration.unregister()
        assert await plane.next("unregister") == {"instance_id": "i-1"}


async def test_another_description_counts_from_the_next_registration_on() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        registration = make(peer)
        await registration.register()
        registration.body = {**BODY, "port": 2}
        await registration.register()
        assert [(await plane.next("register"))["port"] for _ in range(2)] == [1, 2]


@pytest.mark.parametrize(
    ("said", "interval_s"),
    [(2, 2.0), (0.001, 0.05), (10**400, 3600.0), (float("inf"), 3600.0), (float("nan"), 10.0),
     (-1, 10.0), ("5", 10.0), (None, 10.0)],
)  # fmt: skip
async def test_an_interval_that_cannot_be_is_not_kept_to(said: object, interval_s: float) -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        plane.answer("register", (200, json.dumps({"heartbeat_interval_s": said}).encode()))
        registration = make(peer)
        await registration.register()

    assert registration.interval_s == interval_s
