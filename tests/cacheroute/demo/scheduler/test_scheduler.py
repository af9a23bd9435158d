"""The whole way: an OpenAI client, this Scheduler, a real Proxy, a demo Instance."""

import socket

import openai
import pytest

from cacheroute.demo.scheduler.options import SchedulerOptions
from cacheroute.demo.scheduler.scheduler import Scheduler
from cacheroute.member.listeners import CannotListen
from tests.cacheroute.demo.live import Live, live
from tests.cacheroute.demo.scheduler.parts import (
    RunningScheduler,
    chat,
    fake_kdn,
    running_scheduler,
)
from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT
from tests.support.proxy import running_proxy
from tests.support.waiting import eventually_is


def client_of(scheduler: RunningScheduler) -> openai.AsyncOpenAI:
    base_url = f"http://127.0.0.1:{scheduler.port}/v1"
    return openai.AsyncOpenAI(base_url=base_url, api_key="k", max_retries=0)


def instance_url(instance: Live) -> str:
    return f"http://127.0.0.1:{instance.instance.port}"


async def test_an_openai_client_chats_through_it() -> None:
    async with (
        live() as instance,
        running_proxy(instance_url(instance)) as proxy,
        running_scheduler() as scheduler,
        client_of(scheduler) as client,
    ):
        await scheduler.register(proxy.service_port)
        said = await client.chat.completions.create(
            model="tiny", messages=[{"role": "user", "content": "hi"}], max_tokens=5
        )
        assert said.choices[0].message.content
        assert said.usage is not None
        assert said.usage.completion_tokens <= 5


async def test_an_openai_client_streams_through_it() -> None:
    async with (
        live() as instance,
        running_proxy(instance_url(instance)) as proxy,
        running_scheduler() as scheduler,
        client_of(scheduler) as client,
    ):
        await scheduler.register(proxy.service_port)
        parts = await client.chat.completions.create(
            model="tiny",
            messages=[{"role": "user", "content": "hi"}],
            max_tokens=8,
            stream=True,
        )
        text = [chunk.choices[0].delta.content async for chunk in parts if chunk.choices]
        assert "".join(filter(None, text))
        await proxy.idle()


async def test_an_openai_client_completes_through_it() -> None:
    async with (
        live() as instance,
        running_proxy(instance_url(instance)) as proxy,
        running_scheduler() as scheduler,
        client_of(scheduler) as client,
    ):
        await scheduler.register(proxy.service_port)
        said = await client.completions.create(model="tiny", prompt="hi", max_tokens=5)
        assert said.choices[0].text


async def test_what_a_proxy_says_against_it_arrives_as_said() -> None:
    async with running_proxy() as proxy, running_scheduler() as scheduler:
        await scheduler.register(proxy.service_port)
        answer = await post(scheduler.port, chat())

        assert (answer.status, answer.header("retry-after")) == (503, "1")
        assert answer.json()["error"] == "no_instance"


async def test_a_client_that_leaves_frees_its_instance_at_once() -> None:
    async with (
        live(speed=0.01) as instance,
        running_proxy(instance_url(instance)) as proxy,
        running_scheduler() as scheduler,
    ):
        await scheduler.register(proxy.service_port)
        service = instance.instance.service
        for _ in range(8):
            async with connected(scheduler.port) as client:
                client.ask("POST", CHAT, body=chat(model="tiny", stream=True))
                await eventually_is(proxy.inflight, lambda load: any(load.values()))
                client.reset()
            await proxy.idle(within_s=5)
        assert service.inflight == 0


async def test_a_running_answer_may_end_when_it_is_told_to_stop() -> None:
    async with live(speed=2) as instance, running_proxy(instance_url(instance)) as proxy:
        async with running_scheduler(grace_s=10.0) as scheduler:
            await scheduler.register(proxy.service_port)
            async with connected(scheduler.port) as client:
                client.ask("POST", CHAT, body=chat(model="tiny", stream=True, max_tokens=30))
                await client.body_of(1)
                await scheduler.scheduler.close()
                answer = await client.over()
        assert answer.body.endswith(b"data: [DONE]\n\n")


async def test_a_start_waits_for_the_texts_of_its_nodes() -> None:
    async with fake_kdn(a="Bread") as kdn, scripted() as proxy:
        async with running_scheduler(kdns=(kdn.address,)) as scheduler:
            await scheduler.register(proxy.port)
            await post(scheduler.port, chat(("user", "bread"), RAG=True))

        assert proxy.requests[0].json()["Service"]["Knowledge_List"] == ["a"]


async def test_a_port_that_is_taken_is_told_and_the_other_is_given_back() -> None:
    with socket.socket() as taken, socket.socket() as free:
        for one in (taken, free):
            one.bind(("127.0.0.1", 0))
        taken.listen()
        port, free_port = taken.getsockname()[1], free.getsockname()[1]
        free.close()
        scheduler = Scheduler(SchedulerOptions(port=free_port, cp_port=port))
        with pytest.raises(CannotListen, match=f"cannot listen on 127.0.0.1:{port}: "):
            await scheduler.open()
        with socket.socket() as again:
            again.bind(("127.0.0.1", free_port))


async def test_addresses_that_no_proxy_has_any_more_are_let_go() -> None:
    async with scripted() as proxy, running_scheduler() as scheduler:
        pool = scheduler.scheduler._pool
        await scheduler.register(proxy.port, proxy_id="p")
        await post(scheduler.port, chat())
        assert pool.known_peer("127.0.0.1", proxy.port) is not None
        await scheduler.control("POST", "/v1/proxy/unregister", {"proxy_id": "p"})

        assert pool.known_peer("127.0.0.1", proxy.port) is None
        await proxy.closed_down_to(0)
