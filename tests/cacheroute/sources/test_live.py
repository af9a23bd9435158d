"""A Proxy over the network: asked for news only, and a published one as far as it tells."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from cacheroute.client.control import AsyncControlClient
from cacheroute.console.source import NotTold, SourceFault
from cacheroute.sources.live import PAGES, LiveSource, TokenPlace
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies
from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import chat
from tests.support.proxy import RunningProxy, running_proxy

_LOOKS = """
import asyncio, sys
from cacheroute.client.control import AsyncControlClient
from cacheroute.sources.live import LiveSource

async def look(url):
    source = LiveSource(AsyncControlClient(url))
    await source.look()
    await source.decisions()
    await source.traces()
    await source.trace("nobody")
    await source.topology()
    await source.close()

asyncio.run(look(sys.argv[1]))
print(sorted({"pydantic", "cacheroute.client.asks"} & set(sys.modules)))
"""


@asynccontextmanager
async def a_proxy() -> AsyncIterator[tuple[RunningProxy, LiveSource]]:
    async with running_proxy() as proxy:
        await proxy.register(instance_id="a", host="127.0.0.1", port=9401)
        source = LiveSource(AsyncControlClient(proxy.control_url))
        try:
            yield proxy, source
        finally:
            await source.close()


@asynccontextmanager
async def a_published_proxy() -> AsyncIterator[LiveSource]:
    told = replies(an_instance("a"), an_instance("b", is_alive=False))
    with a_control_plane(told) as url:
        source = LiveSource(AsyncControlClient(url), wall_s=lambda: 1_100.0)
        try:
            yield source
        finally:
            await source.close()


async def test_a_look_has_the_pool_and_the_next_one_of_nothing_new_is_the_same_later() -> None:
    async with a_proxy() as (_, source):
        first = await source.look()
        second = await source.look()

        assert [row.id for row in first.instances] == ["a"]
        assert second.rev == first.rev
        assert second.snapshot is first.snapshot
        assert second.at_s >= first.at_s
        assert source.capabilities.missing == {}
        assert (source.kind, source.name) == ("live", first.url)


async def test_what_has_changed_is_seen_at_the_next_look() -> None:
    async with a_proxy() as (proxy, source):
        first = await source.look()
        await proxy.register(instance_id="b", host="127.0.0.1", port=9402)
        second = await source.look()

        assert second.rev > first.rev
        assert {row.id for row in second.instances} == {"a", "b"}


async def test_what_is_read_with_every_look_needs_no_models() -> None:
    async with a_proxy() as (proxy, _):
        words = [sys.executable, "-c", _LOOKS, proxy.control_url]
        child = await asyncio.create_subprocess_exec(*words, stdout=subprocess.PIPE)
        told, _ = await child.communicate()

    assert told == b"[]\n"


async def test_decisions_requests_links_and_one_instance_are_told() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        source = LiveSource(AsyncControlClient(proxy.control_url))
        await post(proxy.service_port, chat(), headers=[("X-Request-Id", "r-1")])

        assert [row.request_id for row in await source.decisions(last=5)] == ["r-1"]
        assert [row.request_id for row in await source.traces(last=5)] == ["r-1"]
        one = await source.trace("r-1")
        assert one is not None
        assert [row.instance_id for row in one.decisions] == [backend.instance_id]
        assert await source.trace("r-2") is None
        assert await source.topology() == []
        entry = await source.instance(backend.instance_id)
        assert entry is not None
        assert entry.origin == "static"
        assert await source.instance("nobody") is None
        for page in source.pages():
            assert await source.raw(page), page
        await source.close()


async def test_after_a_restart_it_begins_anew() -> None:
    async with a_proxy() as (_, source):
        first = await source.look()
        async with running_proxy() as other:
            await other.register(instance_id="z", host="127.0.0.1", port=9403)
            source._client.base_url = other.control_url
            second = await source.look()

        assert [row.id for row in second.instances] == ["z"]
        assert second.run != first.run


async def test_a_published_proxy_is_read_page_by_page_and_says_what_it_does_not_have() -> None:
    async with a_published_proxy() as source:
        look = await source.look()
        again = await source.look()

        assert [row.id for row in look.instances] == ["a", "b"]
        assert again.rev == look.rev + 1
        for ask in (source.decisions, source.traces):
            with pytest.raises(NotTold, match="this Proxy has no /debug/"):
                await ask(last=3)
        with pytest.raises(NotTold):
            await source.trace("r")
        missing = source.capabilities
        assert missing.reason("snapshot") == "this Proxy has no /v1/console/snapshot"
        assert missing.reason("traces") == "this Proxy has no /debug/traces"
        assert missing.reason("queues") is None
        entry = await source.instance("b")
        assert entry is not None
        assert await source.instance("nobody") is None


async def test_one_page_that_fails_costs_its_panel_and_no_look() -> None:
    told = replies(an_instance("a"))
    told.pop("/debug/instance_loads", None)
    with a_control_plane(told) as url:
        source = LiveSource(AsyncControlClient(url), wall_s=lambda: 5.0)
        look = await source.look()
        await source.close()

    assert [row.id for row in look.instances] == ["a"]
    assert look.at_s == 5.0
    assert source.capabilities.reason("queues") == "this Proxy has no /debug/instance_loads"


@pytest.mark.parametrize(
    ("status", "code"),
    [("401 No", "unauthorised"), ("500 Oh", "refused"), ("200 OK", "not_understood")],
)
async def test_what_goes_wrong_has_a_code_and_a_sentence(status: str, code: str) -> None:
    with a_peer_saying(answer(b'{"error":"x","detail":"y"}', status=status)) as url:
        source = LiveSource(AsyncControlClient(url))
        with pytest.raises(SourceFault) as caught:
            await source.look()
        await source.close()

    assert caught.value.code == code
    assert caught.value.url is not None


async def test_nobody_there_is_told_and_whoever_comes_next_is_asked_for_everything_anew() -> None:
    async with a_published_proxy() as source:
        await source.look()
        source._client.base_url = "http://127.0.0.1:1"
        with pytest.raises(SourceFault) as caught:
            await source.look()
        assert caught.value.code == "unreachable"

        async with running_proxy() as proxy:
            source._client.base_url = proxy.control_url
            await source.look()
            assert source.capabilities.reason("snapshot") is None


async def test_a_proxy_that_does_not_answer_in_time_is_late_and_not_gone() -> None:
    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    held = asyncio.Event()
    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    source = LiveSource(AsyncControlClient(f"http://127.0.0.1:{port}", timeout_s=0.05))
    with pytest.raises(SourceFault) as caught:
        await source.look()
    held.set()
    await source.close()
    server.close()

    assert caught.value.code == "timeout"


async def test_a_gateway_that_has_nothing_for_a_while_costs_no_columns_afterwards() -> None:
    async with a_proxy() as (proxy, source):
        await source.look()
        with a_peer_saying(answer(b"", status="404 No")) as gateway:
            source._client.base_url = gateway
            with pytest.raises(SourceFault, match="is it the control plane of a Proxy"):
                await source.look()
        source._client.base_url = proxy.control_url
        await source.look()

        assert source.capabilities.missing == {}


async def told_of(status: str, source: LiveSource) -> str:
    with pytest.raises(SourceFault) as caught:
        await source.look()
    await source.close()
    assert caught.value.code == "unauthorised", status
    return caught.value.message


@pytest.mark.parametrize(
    ("status", "token", "place", "words"),
    [
        (
            "401 No",
            "t",
            "file x",
            "/v1/console/snapshot answered 401: the token of file x is refused",
        ),
        ("401 No", "t", None, "/v1/console/snapshot answered 401: the token is refused"),
        ("401 No", None, None, "answered 401: why; no token is given, CACHEROUTE_TOKEN or"),
        ("403 No", "t", "file x", "answered 403: why: the token of file x is refused"),
    ],
)
async def test_who_is_refused_is_told_which_token_and_where_it_is_from(
    status: str, token: str | None, place: str | None, words: str
) -> None:
    with a_peer_saying(answer(b'{"detail":"why"}', status=status)) as url:
        told = await told_of(
            status,
            LiveSource(
                AsyncControlClient(url, token=token),
                token_place=None if place is None else TokenPlace(name=place),
            ),
        )

    assert words in told


async def test_a_refused_token_is_read_anew_and_the_same_one_is_not_tried_twice() -> None:
    tokens: list[str | None] = ["new", "new", None]
    asked: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        asked.append(request)
        connection.sendall(answer(b"", status="401 No"))

    with a_peer(reply) as url:
        source = LiveSource(
            AsyncControlClient(url, token="old"),
            token_place=TokenPlace(name="file x", read=lambda: tokens.pop(0)),
        )
        for _ in range(3):
            with pytest.raises(SourceFault, match="file x"):
                await source.look()
        await source.close()

    assert [b"Bearer old" in one for one in asked] == [True, False, False, False]


def test_the_pages_are_paths() -> None:
    assert all(page.startswith("/") for page in PAGES)
