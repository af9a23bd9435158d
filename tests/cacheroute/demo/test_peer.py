import socket

import pytest

from cacheroute.demo.peer import MAX_REPLY_BYTES, Peer, PeerFault
from tests.cacheroute.demo.control_plane import control_plane


async def test_a_peer_is_told_and_asked_in_json() -> None:
    async with control_plane() as plane, Peer(plane.url + "/", token="t") as peer:
        assert await peer.get("/healthz") == {"ok": True}
        assert await peer.post("/v1/instance/heartbeat", {"a": None}) == {"ok": True}
        assert await plane.next("heartbeat") == {"a": None}
        assert plane.authorization == {b"Bearer t"}


async def test_without_a_token_nothing_is_authorised() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        await peer.get("/healthz")
        assert plane.authorization == {None}


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (503, b"drained", "answered 503: drained"),
        (200, b"[]", "something else than a JSON object"),
        (200, b"{", "something else than a JSON object"),
        (200, b"\xff", "something else than a JSON object"),
        (200, b"x" * (MAX_REPLY_BYTES + 1), "answered more than"),
    ],
)
async def test_what_is_no_answer_is_a_fault_in_words(
    status: int, body: bytes, message: str
) -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        plane.answer("healthz", (status, body))
        with pytest.raises(PeerFault, match=message):
            await peer.get("/healthz")


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "nonsense", "http://", "http://[x"])
async def test_a_peer_that_is_not_there_is_a_fault_in_words(url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with Peer(url.format(port=taken.getsockname()[1])) as peer:
            with pytest.raises(PeerFault, match="cannot reach"):
                await peer.get("/healthz")
