"""The three calls to a Scheduler, and what comes of them."""

import contextlib
import json
from collections.abc import AsyncIterator

import pytest

from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.formats.address import parse_base_url
from cacheroute.upstream.scheduler import (
    ForgottenByScheduler,
    Scheduler,
    SchedulerRefused,
    SchedulerUnreachable,
)
from cacheroute.wire.scheduler import (
    ProxyHeartbeatBody,
    ProxyRegisterBody,
    ProxyUnregisterBody,
)
from tests.support.backend import Reply, ScriptedBackend, refusing, scripted
from tests.support.script import Close, Freeze, Write, answer, json_answer

REGISTERED = json_answer({"proxy_id": "p", "heartbeat_interval_s": 3, "ttl_s": 30, "more": 1})


@contextlib.asynccontextmanager
async def scheduler_at(url: str, timeout_s: float = 5.0) -> AsyncIterator[Scheduler]:
    pool = UpstreamPool()
    try:
        yield Scheduler(pool, parse_base_url(url), timeout_s=timeout_s)
    finally:
        pool.close()


@contextlib.asynccontextmanager
async def one_that_answers(
    reply: Reply, timeout_s: float = 5.0
) -> AsyncIterator[tuple[Scheduler, ScriptedBackend]]:
    async with scripted(reply) as backend, scheduler_at(backend.url, timeout_s) as scheduler:
        yield scheduler, backend


async def test_a_registration_is_told_as_published() -> None:
    async with one_that_answers(REGISTERED) as (scheduler, backend):
        reply = await scheduler.register(
            ProxyRegisterBody(
                proxy_id="p",
                host="127.0.0.1",
                port=8001,
                meta={"version": "proxy_v1"},
                pool_resource={"load": {"load_ratio": None}},
            )
        )
        assert (reply.proxy_id, reply.heartbeat_interval_s, reply.ttl_s) == ("p", 3.0, 30.0)
        (told,) = backend.requests
        assert (told.method, told.path) == ("POST", "/v1/proxy/register")
        assert told.json() == {
            "proxy_id": "p",
            "host": "127.0.0.1",
            "port": 8001,
            "endpoints": ["chat/completions", "completions"],
            "tags": [],
            "weight": 1.0,
            "meta": {"version": "proxy_v1"},
            "max_capacity": 0,
            "instance_count": 0,
            "kv_mem_per_instance_gb": 0.0,
            "kv_cache_update_policy": "lru",
            "pool_resource": {"load": {"load_ratio": None}},
        }


async def test_a_heartbeat_has_no_load_figures_and_keeps_the_nulls_of_the_summary() -> None:
    async with one_that_answers(json_answer({"ok": True})) as (scheduler, backend):
        await scheduler.heartbeat(
            ProxyHeartbeatBody(proxy_id="p", pool_resource={"load": {"inflight_total": None}})
        )
        await scheduler.unregister(ProxyUnregisterBody(proxy_id="p"))
        beat, bye = backend.requests
        assert beat.path == "/v1/proxy/heartbeat"
        assert beat.json() == {
            "proxy_id": "p",
            "pool_resource": {"load": {"inflight_total": None}},
        }
        assert (bye.path, bye.json()) == ("/v1/proxy/unregister", {"proxy_id": "p"})


async def test_a_base_path_stands_before_the_calls() -> None:
    async with scripted(REGISTERED) as backend, scheduler_at(f"{backend.url}/sched") as scheduler:
        await scheduler.register(ProxyRegisterBody(host="h", port=1))
        assert backend.requests[0].path == "/sched/v1/proxy/register"


async def test_who_is_not_known_is_told_so_by_a_404() -> None:
    forgotten = json_answer({"detail": "proxy_id not registered"}, 404)
    async with one_that_answers(forgotten) as (scheduler, backend):
        with pytest.raises(ForgottenByScheduler) as caught:
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))
        assert str(caught.value) == (
            f"the Scheduler at {backend.url} answered /v1/proxy/heartbeat with 404: "
            '{"detail": "proxy_id not registered"}.'
        )


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_a_scheduler_that_cannot_work_now_is_worth_another_try(status: int) -> None:
    async with one_that_answers(answer(b"", status)) as (scheduler, _):
        with pytest.raises(SchedulerUnreachable, match=f"with {status}\\.$"):
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))


@pytest.mark.parametrize("status", [204, 301, 400, 401, 422])
async def test_every_other_answer_is_a_refusal(status: int) -> None:
    async with one_that_answers(answer(b"", status)) as (scheduler, _):
        with pytest.raises(SchedulerRefused, match=f"with {status}"):
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"[]",
        b'{"proxy_id": "p", "heartbeat_interval_s": 0}',
        b'{"proxy_id": "p", "heartbeat_interval_s": "soon"}',
        json.dumps({"proxy_id": "two words"}).encode(),
        b"\xff\x00\x1b[31m",
    ],
)
async def test_a_reply_that_no_scheduler_gives_is_a_refusal(body: bytes) -> None:
    async with one_that_answers(answer(body, 200)) as (scheduler, _):
        with pytest.raises(SchedulerRefused, match="what no Scheduler says") as caught:
            await scheduler.register(ProxyRegisterBody(host="h", port=1))
        assert str(caught.value).isprintable()


async def test_a_long_answer_is_shown_in_part_and_a_huge_one_is_not_read() -> None:
    async with one_that_answers(answer(b"x" * 5_000, 400)) as (scheduler, _):
        with pytest.raises(SchedulerRefused) as refused:
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))
        assert len(str(refused.value)) < 400
    async with one_that_answers(answer(b"x" * 70_000, 400)) as (scheduler, _):
        with pytest.raises(SchedulerUnreachable, match="sent more than 65536 bytes"):
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))


async def test_silence_and_nonsense_and_nobody_are_unreachable() -> None:
    async with one_that_answers((Freeze(),), timeout_s=0.05) as (scheduler, backend):
        with pytest.raises(SchedulerUnreachable, match=r"did not answer .* within 0\.05 s"):
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))
        await backend.closed_down_to(0)
    async with one_that_answers((Write(b"220 smtp ESMTP\r\n"), Close())) as (scheduler, _):
        with pytest.raises(SchedulerUnreachable):
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))
    async with refusing() as url, scheduler_at(url) as scheduler:
        with pytest.raises(SchedulerUnreachable, match="No connection"):
            await scheduler.heartbeat(ProxyHeartbeatBody(proxy_id="p"))
