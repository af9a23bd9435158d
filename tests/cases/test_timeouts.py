"""C034, C035: long silence before an answer is healthy, and one that freezes hurts nobody else."""

import asyncio

import pytest

from cacheroute.core.limits import Timeouts
from tests.support.backend import scripted, unreachable
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, token, tokens
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.script import (
    END,
    JSON,
    Freeze,
    Gate,
    Pause,
    Script,
    Write,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.sse import error_of

each_mode = pytest.mark.parametrize("streamed", [True, False], ids=["stream", "JSON"])


def whole(streamed: bool) -> Script:
    """Return a healthy answer."""
    return stream(token("a"), DONE) if streamed else json_answer(completion())


def test_c034_the_defaults_leave_ten_minutes_for_the_first_byte() -> None:
    timeouts = Timeouts()
    assert timeouts.first_byte_s >= 600
    assert timeouts.connect_s <= 10
    assert timeouts.total_s is None


@each_mode
async def test_c034_silence_before_the_first_byte_meets_no_other_limit(streamed: bool) -> None:
    async with (
        scripted((Pause(1.2), *whole(streamed))) as backend,
        running_proxy(backend.url, timeouts__connect_s=0.3, timeouts__between_bytes_s=0.3) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed))
        assert got.status == 200
        assert got.whole


async def test_c034_a_head_that_comes_early_still_leaves_time_for_the_first_event() -> None:
    async with (
        scripted((stream_head(), Pause(1.2), chunk(token("a")), chunk(DONE), END)) as backend,
        running_proxy(backend.url, timeouts__between_bytes_s=0.3) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        assert got.body == token("a") + DONE


@each_mode
async def test_c034_the_first_byte_limit_is_named_when_it_fires(streamed: bool) -> None:
    async with (
        scripted((Freeze(),)) as backend,
        running_proxy(backend.url, timeouts__first_byte_s=0.3) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed))
        assert got.status == 504
        assert "first_byte" in got.error["message"]
        await backend.requests[0].gone.wait()
        await proxy.idle()


async def test_c034_the_connect_limit_is_named_when_it_fires() -> None:
    async with (
        unreachable() as silent,
        running_proxy(silent, timeouts__connect_s=0.3, timeouts__first_byte_s=30) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status == 504
        assert "connect" in got.error["message"]
        await proxy.idle()


@each_mode
async def test_c034_the_total_limit_is_named_when_it_fires(streamed: bool) -> None:
    async with (
        scripted((Freeze(),)) as backend,
        running_proxy(backend.url, timeouts__total_s=0.4) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed))
        assert got.status == 504
        assert "total" in got.error["message"]
        await proxy.idle()


async def test_c034_the_total_limit_ends_a_stream_that_goes_on() -> None:
    endless = [step for n in range(200) for step in (chunk(token(f"{n}")), Pause(0.05))]
    async with (
        scripted((stream_head(), *endless)) as backend,
        running_proxy(backend.url, timeouts__total_s=0.5) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        error = error_of(got.events[-1])
        assert error is not None
        assert "total" in error["message"]
        assert got.cut
        await backend.requests[0].gone.wait()
        await proxy.idle()


async def test_c034_a_json_answer_that_stops_midway_is_cut() -> None:
    lines = [("Content-Type", JSON), ("Content-Length", "100")]
    async with (
        scripted((Write(head(200, lines) + b'{"id":'), Freeze())) as backend,
        running_proxy(backend.url, timeouts__between_bytes_s=0.3) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.cut or got.status == 504
        await backend.requests[0].gone.wait()
        await proxy.idle()


async def test_c034_a_steady_trickle_meets_no_limit() -> None:
    steps = [step for n in range(12) for step in (Pause(0.1), chunk(token(f"{n}")))]
    async with (
        scripted((stream_head(), *steps, chunk(DONE), END)) as backend,
        running_proxy(
            backend.url, timeouts__between_bytes_s=0.8, timeouts__first_byte_s=0.8
        ) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        assert got.whole
        assert len(got.events) == 13


async def test_c035_a_frozen_instance_hurts_only_those_it_was_given() -> None:
    async with (
        scripted((Freeze(),)) as frozen,
        scripted() as healthy,
        running_proxy(
            frozen.url, healthy.url,
            timeouts__first_byte_s=1.0, pool__ejection__failures=3, **LONG_REST,
        ) as proxy,
    ):  # fmt: skip
        waiting = [asyncio.ensure_future(post(proxy.service_port, chat())) for _ in range(40)]
        await healthy.received(20)
        await asyncio.sleep(0.3)
        # Every healthy answer is there while the frozen one's callers still wait.
        early = [task.result().status for task in waiting if task.done()]
        assert early == [200] * 20
        assert (await fetch(proxy.control_port, "GET", "/healthz", within_s=2)).status == 200
        late = await asyncio.gather(*waiting)
        assert sorted(got.status for got in late) == [200] * 20 + [504] * 20
        for _ in range(6):
            assert (await post(proxy.service_port, chat())).status == 200
        assert len(frozen.requests) == 20
        await proxy.idle()


async def test_c035_an_instance_that_accepts_and_never_reads_is_the_same() -> None:
    async with (
        scripted(on_accept="freeze") as frozen,
        scripted() as healthy,
        running_proxy(
            frozen.url, healthy.url,
            timeouts__first_byte_s=0.3, pool__ejection__failures=2, **LONG_REST,
        ) as proxy,
    ):  # fmt: skip
        statuses = [(await post(proxy.service_port, chat())).status for _ in range(12)]
        # Its probes fail as its requests do, so one of each may be enough to take it out.
        assert 1 <= statuses.count(504) <= 2
        assert statuses.count(200) == 12 - statuses.count(504)
        await proxy.idle()


@each_mode
async def test_c035_waiters_end_or_move_when_their_instance_leaves_the_pool(
    streamed: bool,
) -> None:
    async with (
        scripted((Freeze(),)) as frozen,
        scripted(whole(streamed)) as healthy,
        running_proxy() as proxy,
    ):
        for backend in (frozen, healthy):
            await proxy.register(
                instance_id=f"i-{backend.port}", host=backend.host, port=backend.port
            )
        async with connected(proxy.service_port) as one, connected(proxy.service_port) as two:
            one.ask("POST", CHAT, body=chat(stream=streamed))
            two.ask("POST", CHAT, body=chat(stream=streamed))
            await frozen.received()
            await healthy.received()
            body = {"instance_id": f"i-{frozen.port}"}
            assert (await proxy.control("POST", "/v1/instance/unregister", body))["ok"] is True
            answers = [await client.over(within_s=2) for client in (one, two)]
        for got in answers:
            assert got.status in (200, 502, 503)
            assert got.whole
        await frozen.requests[0].gone.wait()
        await proxy.idle()


async def test_c035_a_stream_that_runs_may_end_after_its_instance_has_left() -> None:
    gate = Gate()
    async with (
        scripted((stream_head(), *map(chunk, tokens(2)), gate, chunk(DONE), END)) as backend,
        running_proxy() as proxy,
    ):
        await proxy.register(instance_id="i", host=backend.host, port=backend.port)
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            await client.until(lambda a: len(a.events) == 2)
            await proxy.control("POST", "/v1/instance/unregister", {"instance_id": "i"})
            gate.open()
            got = await client.over(within_s=2)
        # Either it ends as it would have, or the client is told; it never hangs.
        assert got.body.endswith(DONE) or (got.cut and error_of(got.events[-1]))
