"""The console's stream over real sockets: it begins whole, goes on, and holds nobody up."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from cacheroute.client.control import AsyncControlClient, ControlClient
from cacheroute.client.faults import ControlFault, Refused
from cacheroute.dataplane.sockets import bind
from cacheroute.planes.console_stream import MAX_READERS
from cacheroute.planes.control_owner import ControlRules
from cacheroute.runtime.control_server import ControlServer
from cacheroute.wire.console import ConsoleSnapshot
from tests.cacheroute.core.pool_builders import an_instance, at, joined
from tests.cacheroute.planes.control_parts import Owner
from tests.cacheroute.runtime.test_control_server import readings
from tests.support.client import RawClient, connected
from tests.support.waiting import eventually

STREAM = "/v1/console/stream"


@contextlib.asynccontextmanager
async def running(rules: ControlRules | None = None) -> AsyncIterator[tuple[ControlServer, Owner]]:
    owner = Owner()
    joined(owner.pool, an_instance("a"), owner.clock.now())
    server = ControlServer(owner, rules or ControlRules(), readings)
    await server.start(bind("127.0.0.1", 0))
    try:
        yield server, owner
    finally:
        await server.stop()


def busier(owner: Owner) -> None:
    owner.pool.members["a"].inflight += 1
    owner.clock.instant = at(owner.clock.instant.mono_s + 1.0)


@contextlib.asynccontextmanager
async def reading(server: ControlServer) -> AsyncIterator[RawClient]:
    async with connected(server.port) as client:
        client.ask("GET", STREAM)
        await eventually(lambda: client.answer.events)
        yield client


async def test_a_reader_gets_the_whole_and_then_the_news() -> None:
    async with running() as (server, owner), reading(server) as client:
        busier(owner)
        await eventually(lambda: len(client.answer.events) == 2)

        assert client.answer.header("content-type") == "text/event-stream; charset=utf-8"
        assert client.answer.header("cache-control") == "no-store"
        assert [event.name for event in client.answer.events] == [b"snapshot", b"change"]
        assert json.loads(client.answer.events[1].data)["instances"]["inflight"] == 1


async def test_readers_hold_up_no_shutdown_and_their_answers_end_whole() -> None:
    async with running() as (server, _), reading(server) as one, reading(server) as other:
        await server.stop()
        # What still ran after two seconds would have been cut.
        await eventually(lambda: one.answer.whole and other.answer.whole)


async def test_the_ninth_reader_is_sent_away_until_one_leaves() -> None:
    async with running() as (server, _), contextlib.AsyncExitStack() as stack:
        readers = [await stack.enter_async_context(reading(server)) for _ in range(MAX_READERS)]
        async with AsyncControlClient(f"http://127.0.0.1:{server.port}") as client:
            with pytest.raises(Refused, match="poll the snapshot instead"):
                await anext(client.console_stream())
            readers[0].close()
            await eventually_is_let_in(client)


async def eventually_is_let_in(client: AsyncControlClient) -> None:
    async with asyncio.timeout(5.0):
        while True:
            stream = client.console_stream()
            try:
                assert (await anext(stream)).ids == ["a"]
            except Refused:
                await asyncio.sleep(0.01)
            else:
                return
            finally:
                await stream.aclose()


async def test_a_reader_can_be_cut_off_by_its_address() -> None:
    async with running() as (server, _), reading(server) as client:
        server._abort(client._transport.get_extra_info("sockname"))
        await eventually(lambda: client.answer.ended)

        assert client.answer.cut


async def test_the_clients_read_documents_and_fill_in_who_the_instances_are() -> None:
    async with running() as (server, owner):
        url = f"http://127.0.0.1:{server.port}"
        async with AsyncControlClient(url) as client:
            stream = client.console_stream()
            first = await anext(stream)
            busier(owner)
            second = await anext(stream)
            await stream.aclose()
        assert (first.ids, first.instances.inflight) == (["a"], 0)
        assert (second.ids, second.instances.inflight) == (["a"], 1)

        def in_a_thread() -> list[str]:
            with ControlClient(url) as asking:
                return next(asking.console_stream()).ids

        assert await asyncio.to_thread(in_a_thread) == ["a"]


async def test_the_stream_of_a_client_ends_with_the_proxy() -> None:
    async with (
        running() as (server, _),
        AsyncControlClient(f"http://127.0.0.1:{server.port}") as client,
    ):
        found: list[ConsoleSnapshot] = []

        async def read_along() -> None:
            async for snapshot in client.console_stream():
                found.append(snapshot)  # noqa: PERF401 - the stream has no end of its own

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read_along())
            await eventually(lambda: found)
            await server.stop()
    assert [snapshot.ids for snapshot in found] == [["a"]]


async def test_without_the_token_nobody_reads_along() -> None:
    async with running(ControlRules(token="secret")) as (server, _):
        url = f"http://127.0.0.1:{server.port}"
        async with AsyncControlClient(url) as stranger:
            with pytest.raises(ControlFault, match="401"):
                await anext(stranger.console_stream())
        async with AsyncControlClient(url, token="secret") as friend:
            assert (await anext(friend.console_stream())).ids == ["a"]
