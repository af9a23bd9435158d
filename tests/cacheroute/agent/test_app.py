import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator

import httpx
import pytest

from cacheroute.agent.app import serve
from cacheroute.agent.options import Options
from cacheroute.core.clock import Instant
from cacheroute.member.listeners import CannotListen


class StepClock:
    """Each look is half a second later, so that the samples can be told apart."""

    def __init__(self) -> None:
        self.mono_s = 0.0

    def now(self) -> Instant:
        self.mono_s += 0.5
        return Instant(mono_s=self.mono_s, wall_s=1_800_000_000 + self.mono_s)


@contextlib.asynccontextmanager
async def running(options: Options) -> AsyncIterator[httpx.AsyncClient]:
    stopping = asyncio.Event()
    urls: asyncio.Queue[str] = asyncio.Queue()
    async with asyncio.TaskGroup() as group:
        group.create_task(
            serve(
                options,
                clock=StepClock(),
                stopping=stopping,
                on_listening=urls.put_nowait,
            ),
        )
        try:
            async with httpx.AsyncClient(base_url=await urls.get()) as client:
                yield client
        finally:
            stopping.set()


def options(sample_interval_ms: int = 3_600_000) -> Options:
    return Options(port=0, instance_id="i-1", sample_interval_ms=sample_interval_ms)


async def test_health_is_told_to_get_and_head() -> None:
    async with running(options()) as client:
        got, head = await client.get("/healthz"), await client.head("/healthz")

    assert (got.status_code, got.text) == (200, '{"ok":true}')
    assert got.headers["content-type"] == "application/json"
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "11")


async def test_the_snapshot_is_there_from_the_first_request_on() -> None:
    async with running(options()) as client:
        snapshot = (await client.get("/v1/resource/snapshot?x=1")).json()

    assert snapshot["schema_version"] == "resource_snapshot_v1"
    assert snapshot["instance_id"] == "i-1"
    assert snapshot["devices"]["memory"]["total_mb"] > 0


async def test_asking_does_not_make_it_sample() -> None:
    async with running(options()) as client:
        # The second sample follows soon after the first; then comes an hour of nothing.
        while (await _taken_ms(client)) == 1_800_000_000_500:
            pass
        taken = {await _taken_ms(client) for _ in range(20)}

    assert taken == {1_800_000_001_000}


async def test_samples_follow_each_other_by_the_timer() -> None:
    async with running(options(sample_interval_ms=50)) as client:
        taken: set[int] = set()
        while len(taken) < 4:
            taken.add(await _taken_ms(client))

    assert len(taken) == 4


@pytest.mark.parametrize("path", ["/", "/healthz/", "/v1/resource", "/v1/resource/snapshot/x"])
async def test_another_path_is_not_found(path: str) -> None:
    async with running(options()) as client:
        answer = await client.get(path)

    assert (answer.status_code, answer.json()) == (404, {"error": "not_found"})


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_another_method_is_refused_with_those_allowed(method: str) -> None:
    async with running(options()) as client:
        answer = await client.request(method, "/v1/resource/snapshot")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.json() == {"error": "method_not_allowed"}


async def test_a_snapshot_is_strict_json_of_modest_size() -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    async with running(options()) as client:
        text = (await client.get("/v1/resource/snapshot")).text

    assert json.loads(text, parse_constant=refuse)
    assert len(text) < 64 * 1024


async def test_a_taken_port_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotListen) as refused:
            await serve(
                Options(port=port),
                clock=StepClock(),
                stopping=asyncio.Event(),
                on_listening=lambda _: None,
            )

    assert str(refused.value) == (f"cannot listen on 127.0.0.1:{port}: Address already in use")


async def test_a_name_that_no_resolver_takes_is_one_sentence_too() -> None:
    with pytest.raises(CannotListen, match=r"cannot listen on x{64}:0: "):
        await serve(
            Options(host="x" * 64, port=0),
            clock=StepClock(),
            stopping=asyncio.Event(),
            on_listening=lambda _: None,
        )


async def _taken_ms(client: httpx.AsyncClient) -> int:
    taken_ms = (await client.get("/v1/resource/snapshot")).json()["timestamp_ms"]
    assert isinstance(taken_ms, int)
    return taken_ms
