import asyncio
import socket

import httpx
import pytest

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.listening import Listening
from cacheroute.member.listeners import CannotListen


def hello(inbound: Inbound) -> None:
    inbound.respond(200, (), b"hello")


async def get(port: int) -> str:
    async with httpx.AsyncClient(trust_env=False) as http:
        return (await http.get(f"http://127.0.0.1:{port}/")).text


async def test_a_free_port_is_found_and_told() -> None:
    listening = Listening(hello, host="127.0.0.1", port=0)
    await listening.open()
    assert listening.port > 0
    assert await get(listening.port) == "hello"
    await listening.close(0.0)


async def test_the_control_plane_may_have_a_port_of_its_own() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        cp_port = probe.getsockname()[1]
    listening = Listening(hello, host="127.0.0.1", port=0, cp_port=cp_port)
    await listening.open()
    assert await get(cp_port) == "hello"
    assert await get(listening.port) == "hello"
    await listening.close(0.0)


async def test_a_taken_port_is_an_error_that_leaves_nothing_open() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        for listening in (
            Listening(hello, host="127.0.0.1", port=port),
            Listening(hello, host="127.0.0.1", port=0, cp_port=port),
        ):
            with pytest.raises(
                CannotListen, match=f"^cannot listen on 127.0.0.1:{port}: .* in use"
            ):
                await listening.open()
            await listening.close(0.0)


async def test_a_port_that_refuses_opens_again_on_the_same_number() -> None:
    listening = Listening(hello, host="127.0.0.1", port=0)
    await listening.open()
    port = listening.port
    listening.refuse_for(3600.0)
    with pytest.raises(httpx.ConnectError):
        await get(port)
    listening.refuse_for(0.0)
    async with asyncio.timeout(20):
        while True:
            try:
                assert await get(port) == "hello"
                break
            except httpx.ConnectError:
                await asyncio.sleep(0.01)
    assert listening.port == port
    await listening.close(0.0)


async def test_a_running_answer_goes_on_while_nobody_new_can_connect() -> None:
    held: asyncio.Queue[Inbound] = asyncio.Queue()
    listening = Listening(held.put_nowait, host="127.0.0.1", port=0)
    await listening.open()
    asking = asyncio.ensure_future(get(listening.port))
    async with asyncio.timeout(20):
        inbound = await held.get()
    listening.refuse_for(3600.0)
    inbound.respond(200, (), b"still here")
    assert await asking == "still here"
    await listening.close(0.0)
