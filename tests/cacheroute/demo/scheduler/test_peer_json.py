import pytest

from cacheroute.core.errors import UpstreamConnectError, UpstreamProtocolError, UpstreamTimeout
from cacheroute.demo.scheduler import peer_json
from cacheroute.demo.scheduler.peer_json import post_json
from cacheroute.formats.address import Address, parse_host_port
from tests.cacheroute.demo.scheduler.parts import a_pool
from tests.support.backend import ScriptedBackend, refusing, scripted
from tests.support.script import Freeze, answer, json_answer


def address_of(backend: ScriptedBackend) -> Address:
    return parse_host_port(backend.authority)


async def test_an_object_is_the_answer() -> None:
    async with scripted(json_answer({"a": 1})) as backend:
        with a_pool() as pool:
            told = await post_json(pool, address_of(backend), "/x", {"q": "ü"}, within_s=5)

        assert told == {"a": 1}
        [received] = backend.requests
        assert (received.method, received.path, received.json()) == ("POST", "/x", {"q": "ü"})
        assert received.head.one("content-type") == b"application/json"
        assert received.head.one("host") == backend.authority.encode()


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answer(b"[]"), "with something else than a JSON object."),
        (answer(b"{"), "with something else than a JSON object."),
        (answer(b"broken", 500), "answered /x with 500: broken"),
    ],
)
async def test_anything_else_is_a_fault_with_a_sentence(reply: object, why: str) -> None:
    async with scripted(reply) as backend:  # type: ignore[arg-type]
        with a_pool() as pool, pytest.raises(UpstreamProtocolError) as raised:
            await post_json(pool, address_of(backend), "/x", {}, within_s=5)

    assert raised.value.message.endswith(why)


async def test_an_answer_without_bounds_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_json, "MAX_REPLY_BYTES", 100)
    async with scripted(answer(b'{"a":"%b"}' % (b"x" * 200))) as backend:
        with a_pool() as pool, pytest.raises(UpstreamProtocolError) as raised:
            await post_json(pool, address_of(backend), "/x", {}, within_s=5)

    assert "more than 100 bytes" in raised.value.message


async def test_a_silent_peer_is_left() -> None:
    async with scripted((Freeze(),)) as backend:
        with a_pool() as pool, pytest.raises(UpstreamTimeout) as raised:
            await post_json(pool, address_of(backend), "/x", {}, within_s=0.05)
        await backend.requests[0].gone.wait()

    assert raised.value.message.endswith("did not answer /x within 0.05 s.")


async def test_nobody_there_is_told() -> None:
    async with refusing() as dead:
        where = parse_host_port(dead.removeprefix("http://"))
        with a_pool() as pool, pytest.raises(UpstreamConnectError):
            await post_json(pool, where, "/x", {}, within_s=5)
