import socket

import pytest

from cacheroute.member.peer import MAX_REPLY_BYTES, Peer, PeerFault
from tests.cacheroute.member.control_plane import control_plane


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
        (409, b'{"error":"x","detail":"It is taken."}', "answered 409: It is taken."),
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


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}", "nonsense", "http://", "http://[x", "http://a..b:1",
        f"http://{'a' * 64}.org:1",
    ],
)  # fmt: skip
async def test_a_peer_that_is_not_there_is_a_fault_in_words(url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with Peer(url.format(port=taken.getsockname()[1])) as peer:
            with pytest.raises(PeerFault, match="cannot reach"):
                await peer.get("/healthz")


async def test_why_nobody_answers_is_told_in_the_systems_words() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with Peer(f"http://127.0.0.1:{taken.getsockname()[1]}") as peer:
            with pytest.raises(PeerFault, match=r"\(connection refused\)$"):
                await peer.get("/healthz")


async def test_a_fault_tells_the_status_that_was_the_answer() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        plane.answer("healthz", (401, b""))
        with pytest.raises(PeerFault) as refused:
            await peer.get("/healthz")
        async with Peer("http://127.0.0.1:1") as nobody:
            with pytest.raises(PeerFault) as unreachable:
                await nobody.get("/healthz")
    assert (refused.value.status, unreachable.value.status) == (401, None)


async def test_whatever_is_said_can_be_taken_for_an_answer() -> None:
    async with control_plane() as plane, Peer(plane.url) as peer:
        plane.answer("healthz", (503, b"loading"))
        said = await peer.ask("GET", "/healthz")
        with pytest.raises(PeerFault, match="more than 3 bytes"):
            await peer.ask("GET", "/healthz", max_bytes=3)
    assert (said.status, said.body) == (503, b"loading")
