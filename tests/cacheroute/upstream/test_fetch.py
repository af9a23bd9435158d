import asyncio

import pytest

from cacheroute.core.errors import UpstreamClosed, UpstreamError, UpstreamProtocolError
from cacheroute.dataplane.pool import UpstreamPool
from cacheroute.upstream.fetch import fetch
from tests.support.backend import ScriptedBackend, refusing, scripted
from tests.support.script import (
    Close,
    Freeze,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    json_answer,
    stream,
    stream_head,
)


async def got(
    backend: ScriptedBackend,
    *,
    api_key: str | None = None,
    timeout_s: float = 5.0,
    limit_bytes: int = 1000,
    target: str = "/asked",
) -> tuple[int, bytes]:
    pool = UpstreamPool()
    try:
        return await fetch(
            pool.peer(backend.host, backend.port),
            target,
            host=backend.authority,
            api_key=api_key,
            timeout_s=timeout_s,
            limit_bytes=limit_bytes,
        )
    finally:
        pool.close()


async def test_status_and_body_come_back_whole() -> None:
    async with scripted(json_answer({"a": 1}, 418)) as backend:
        assert await got(backend, target="/base/x?q=1") == (418, b'{"a": 1}')
        (asked,) = backend.requests
        assert (asked.method, asked.target, asked.body) == ("GET", "/base/x?q=1", b"")
        assert asked.head.one("host") == backend.authority.encode()
        assert asked.head.one("accept") == b"application/json"
        assert asked.head.one("authorization") is None


async def test_a_body_in_many_chunks_is_put_together() -> None:
    async with scripted(stream(b"ab", b"c", b"def")) as backend:
        assert await got(backend) == (200, b"abcdef")


async def test_the_key_of_the_instance_goes_along() -> None:
    async with scripted(json_answer({})) as backend:
        await got(backend, api_key="sk-1")
        assert backend.requests[0].head.one("authorization") == b"Bearer sk-1"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_an_answer_and_is_not_followed(status: int) -> None:
    async with scripted() as elsewhere:
        to = answer(b"", status, headers=[("Location", elsewhere.url)])
        async with scripted(to) as backend:
            assert await got(backend, api_key="sk-1") == (status, b"")
            assert elsewhere.connections == 0


@pytest.mark.parametrize("length", [1000, 1001])
@pytest.mark.parametrize("chunked", [True, False])
async def test_a_body_beyond_the_limit_is_refused(length: int, chunked: bool) -> None:
    body = b"x" * length
    script = stream(body[:500], body[500:]) if chunked else answer(body)
    async with scripted(script) as backend:
        if length == 1000:
            assert await got(backend) == (200, body)
        else:
            with pytest.raises(UpstreamProtocolError, match="sent more than 1000 bytes"):
                await got(backend)


async def test_an_endless_body_is_ended_by_us() -> None:
    async with scripted((stream_head(), *[chunk(b"x" * 800)] * 2, Freeze())) as backend:
        with pytest.raises(UpstreamProtocolError):
            await got(backend)
        await backend.closed_down_to(0)


@pytest.mark.parametrize("script", [(Freeze(),), (stream_head(), chunk(b"x"), Freeze())])
async def test_silence_is_a_timeout_and_leaves_no_connection(script: Script) -> None:
    async with scripted(script) as backend:
        with pytest.raises(TimeoutError):
            await got(backend, timeout_s=0.05)
        await backend.closed_down_to(0)


async def test_who_is_cancelled_leaves_no_connection() -> None:
    async with scripted((Freeze(),)) as backend:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await got(backend)
        await backend.closed_down_to(0)


@pytest.mark.parametrize(
    "script",
    [
        (Reset(),),
        (Close(),),
        (Write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), Close()),
    ],
)
async def test_an_answer_that_breaks_off_is_an_error(script: Script) -> None:
    async with scripted(script) as backend:
        with pytest.raises(UpstreamClosed):
            await got(backend)


async def test_what_is_no_http_is_an_error() -> None:
    async with scripted((Write(b"220 smtp.example ESMTP\r\n"), Close())) as backend:
        with pytest.raises(UpstreamProtocolError):
            await got(backend)


async def test_nobody_there_is_an_error() -> None:
    async with refusing() as url:
        backend = ScriptedBackend(port=int(url.rpartition(":")[2]))
        with pytest.raises(UpstreamError):
            await got(backend)


async def test_what_is_posted_goes_along_whole() -> None:
    async with scripted(json_answer({}, 201)) as backend:
        pool = UpstreamPool()
        peer = pool.peer(backend.host, backend.port)
        status, _ = await fetch(
            peer, "/told", host="h", timeout_s=5.0, limit_bytes=100, json_body='{"ä": 1}'.encode()
        )
        pool.close()
        (told,) = backend.requests
        assert (status, told.method, told.target, told.json()) == (201, "POST", "/told", {"ä": 1})
        assert told.head.one("content-type") == b"application/json"
        assert told.head.one("authorization") is None
