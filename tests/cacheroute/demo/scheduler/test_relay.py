from cacheroute.wire import paths
from tests.cacheroute.demo.scheduler.parts import RunningScheduler, chat, running_scheduler
from tests.support.backend import refusing, scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, completion, token
from tests.support.script import (
    Close,
    Freeze,
    Gate,
    Reset,
    Write,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.waiting import eventually_is


async def inflight(scheduler: RunningScheduler) -> dict[str, int]:
    return {row["proxy_id"]: row["inflight"] for row in await scheduler.proxies()}


async def idle(scheduler: RunningScheduler) -> None:
    await eventually_is(lambda: inflight(scheduler), lambda load: not any(load.values()))


async def test_status_headers_and_body_are_the_proxys_own() -> None:
    reply = json_answer({"error": "queue_full", "detail": "full"}, 429, [("Retry-After", "3")])
    async with scripted(reply) as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port)
        answer = await post(scheduler.port, chat())

        assert (answer.status, answer.header("retry-after")) == (429, "3")
        assert answer.json() == {"error": "queue_full", "detail": "full"}
        assert answer.framing == "length"


async def test_a_stream_is_passed_on_as_it_comes_byte_for_byte() -> None:
    gate = Gate()
    meta = b'event: cacheroute_meta\ndata: {"trace":{}}\n\n'
    reply = (*stream(token("a"))[:-1], gate, *stream(token("b"), meta, DONE)[1:])
    async with (
        scripted(reply) as proxy,
        running_scheduler() as scheduler,
        connected(scheduler.port) as client,
    ):
        await scheduler.register(proxy.port, proxy_id="p")
        client.ask("POST", CHAT, body=chat(stream=True))
        assert await client.body_of(1) == token("a")
        assert await inflight(scheduler) == {"p": 1}
        gate.open()
        answer = await client.over()

        assert answer.body == token("a") + token("b") + meta + DONE
        assert answer.header("content-type") == "text/event-stream"
        await idle(scheduler)


async def test_a_client_that_leaves_takes_its_request_along() -> None:
    reply = (stream_head(), chunk(token("a")), Freeze())
    async with scripted(reply) as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.port, proxy_id="p")
        for _ in range(8):
            async with connected(scheduler.port) as client:
                client.ask("POST", CHAT, body=chat(stream=True))
                await client.body_of(1)
                client.reset()
        await proxy.received(8)
        for received in proxy.requests:
            await received.gone.wait()
        await idle(scheduler)


async def test_a_client_that_leaves_before_the_answer_takes_its_request_along() -> None:
    async with (
        scripted((Freeze(),)) as proxy,
        running_scheduler() as scheduler,
        connected(scheduler.port) as client,
    ):
        await scheduler.register(proxy.port)
        client.ask("POST", CHAT, body=chat())
        received = await proxy.received()
        client.reset()
        await received.gone.wait()
        await idle(scheduler)


async def test_a_proxy_that_cannot_be_reached_is_passed_over() -> None:
    async with refusing() as dead, scripted() as proxy, running_scheduler() as scheduler:
        await scheduler.register(int(dead.rpartition(":")[2]), proxy_id="a")
        await scheduler.register(proxy.port, proxy_id="b")
        answer = await post(scheduler.port, chat())

        assert (answer.status, answer.json()) == (200, completion())
        assert proxy.requests[0].json()["Task"]["P_proxy_id"] == "b"
        await idle(scheduler)


async def test_when_every_proxy_fails_the_last_failure_is_told() -> None:
    async with refusing() as dead, running_scheduler() as scheduler:
        port = int(dead.rpartition(":")[2])
        await scheduler.register(port, proxy_id="a")
        await scheduler.register(port, proxy_id="b")
        answer = await post(scheduler.port, chat())

        assert (answer.status, answer.error["code"]) == (502, "upstream_connect_failed")
        assert f"127.0.0.1:{port}" in answer.error["message"]
        await idle(scheduler)


async def test_an_answer_that_breaks_off_is_cut_for_the_client_too() -> None:
    reply = (stream_head(), chunk(token("a")), Reset())
    async with scripted(reply) as proxy, scripted() as other, running_scheduler() as scheduler:
        await scheduler.register(proxy.port, proxy_id="a")
        await scheduler.register(other.port, proxy_id="b")
        async with connected(scheduler.port) as client:
            answer = client.ask("POST", CHAT, body=chat(stream=True))
            await client.disconnected()

        assert answer.body == token("a")
        assert answer.cut
        assert not other.requests
        await idle(scheduler)


async def test_an_answer_that_only_ends_by_closing_is_whole() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    async with (
        scripted((Write(head + token("a") + DONE), Close())) as proxy,
        running_scheduler() as scheduler,
    ):
        await scheduler.register(proxy.port)
        answer = await post(scheduler.port, chat(stream=True))

        assert answer.body == token("a") + DONE
        assert answer.framing == "chunked"


async def test_a_heartbeat_and_an_end_never_make_a_count_below_zero() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as proxy,
        running_scheduler() as scheduler,
        connected(scheduler.port) as client,
    ):
        await scheduler.register(proxy.port, proxy_id="p")
        client.ask("POST", CHAT, body=chat())
        await proxy.received()
        await scheduler.control("POST", paths.PROXY_HEARTBEAT, {"proxy_id": "p", "inflight": 0})
        gate.open()
        await client.over()

        assert await inflight(scheduler) == {"p": 0}


async def test_an_answer_of_a_proxy_that_registers_anew_counts_for_the_old_record() -> None:
    gate = Gate()
    async with (
        scripted((gate, *json_answer(completion()))) as proxy,
        running_scheduler() as scheduler,
        connected(scheduler.port) as client,
    ):
        await scheduler.register(proxy.port, proxy_id="p")
        client.ask("POST", CHAT, body=chat())
        await proxy.received()
        await scheduler.register(proxy.port, proxy_id="p")
        async with connected(scheduler.port) as other:
            other.ask("POST", CHAT, body=chat())
            await proxy.received(2)
            assert await inflight(scheduler) == {"p": 1}
            gate.open()
            await other.over()
        await client.over()

        assert await inflight(scheduler) == {"p": 0}
