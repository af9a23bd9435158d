"""C037, C038: an Instance's refusal reaches the client as it was, its hint included."""

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.support.backend import scripted
from tests.support.client import post
from tests.support.openai_shapes import chat, completion
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.received import Received
from tests.support.script import Script, answer, json_answer

each_mode = pytest.mark.parametrize("streamed", [True, False], ids=["stream", "JSON"])
HINTS = [("Retry-After", "7"), ("X-RateLimit-Remaining-Requests", "0"), ("X-Vendor", "a, b")]
SLOW_DOWN = answer(b"slow down, please", 429, "text/plain", HINTS)


@each_mode
async def test_c037_a_429_in_plain_text_passes_with_its_hint(streamed: bool) -> None:
    async with scripted(SLOW_DOWN) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat(stream=streamed))
        assert got.status == 429
        for name, value in HINTS:
            assert got.header(name) == value
        assert b"slow down, please" in got.body
        assert len(backend.requests) == 1
        await proxy.idle()


@each_mode
async def test_c037_refusals_do_not_mark_the_only_instance_dead(streamed: bool) -> None:
    async with (
        scripted(SLOW_DOWN) as backend,
        running_proxy(backend.url, pool__ejection__failures=2, **LONG_REST) as proxy,
    ):
        for _ in range(10):
            assert (await post(proxy.service_port, chat(stream=streamed))).status == 429
        assert len(backend.requests) == 10
        backend.reply = json_answer(completion())
        assert (await post(proxy.service_port, chat(stream=streamed))).status == 200


async def test_c037_a_free_instance_takes_over_from_one_that_is_full() -> None:
    async with (
        scripted(SLOW_DOWN) as full,
        scripted() as free,
        running_proxy(full.url, free.url) as proxy,
    ):
        for _ in range(10):
            got = await post(proxy.service_port, chat())
            assert got.status == 200
            assert got.header("x-cacheroute-instance") == free.instance_id
            assert got.header("retry-after") is None
        assert len(free.requests) == 10


async def test_c037_when_all_are_full_each_is_asked_once_and_the_hint_passes() -> None:
    async with (
        scripted(SLOW_DOWN) as a,
        scripted(SLOW_DOWN) as b,
        running_proxy(a.url, b.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status == 429
        assert got.header("retry-after") == "7"
        assert b"slow down, please" in got.body
        assert (len(a.requests), len(b.requests)) == (1, 1)


@each_mode
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 415, 418, 422, 451, 499])
async def test_c037_what_the_caller_did_wrong_is_told_as_it_was(
    status: int, streamed: bool
) -> None:
    said = b'{"object":"error","message":"context too long","code":40303}'
    async with (
        scripted(answer(said, status, headers=[("X-Trace", "t")])) as backend,
        scripted() as other,
        running_proxy(backend.url, other.url) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed))
        assert (got.status, got.body) == (status, said)
        assert got.header("x-trace") == "t"
        assert got.header("content-type") == "application/json"
        assert not other.requests


@pytest.mark.parametrize(
    "script",
    [
        answer(b"<html>no</html>", 404, "text/html"),
        answer(b"", 400, content_type=None),
        answer(b"\xff\xfe\x00", 400, "application/octet-stream"),
        answer(b"plain", 403, "text/plain; charset=latin-1"),
        answer(b"{broken", 422),
    ],
    ids=["HTML", "nothing", "binary", "text", "broken JSON"],
)
async def test_c037_a_refusal_of_any_type_passes(script: Script) -> None:
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, chat())
        sent = bytes(script[0].data)  # type: ignore[union-attr]
        assert str(got.status).encode() in sent.split(b"\r\n")[0]
        assert sent.endswith(b"\r\n\r\n" + got.body)


@each_mode
@pytest.mark.parametrize(
    "script",
    [
        answer(b"<html>bad gateway</html>", 502, "text/html"),
        answer(b"", 500, content_type=None),
        answer(b"CUDA out of memory", 500, "text/plain"),
        answer(b'{"detail": "loading"}', 503),
        answer(b"late", 504, "text/plain", [("X-Trace", "t")]),
    ],
    ids=["HTML", "nothing", "text", "JSON of another kind", "504"],
)
async def test_c037_a_failure_of_the_only_instance_keeps_status_and_words(
    script: Script, streamed: bool
) -> None:
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        for _ in range(5):
            got = await post(proxy.service_port, chat(stream=streamed))
            sent = bytes(script[0].data)  # type: ignore[union-attr]
            assert str(got.status).encode() in sent.split(b"\r\n")[0]
            assert sent.endswith(b"\r\n\r\n" + got.body)
        assert len(backend.requests) == 5
        await proxy.idle()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_c037_a_redirect_is_not_followed(status: int) -> None:
    async with (
        scripted() as elsewhere,
        scripted() as backend,
        running_proxy(backend.url) as proxy,
    ):
        target = f"{elsewhere.url}/v1/chat/completions"
        backend.reply = answer(b"", status, headers=[("Location", target)])
        await post(proxy.service_port, chat())
        assert not elsewhere.requests
        assert elsewhere.connections == 0


@each_mode
@pytest.mark.parametrize("hint", ["3", None])
async def test_c037_a_503_of_the_only_instance_keeps_its_words(
    hint: str | None, streamed: bool
) -> None:
    headers = [("Retry-After", hint)] if hint else []
    said = b'{"error":{"message":"queue full","type":"overloaded"}}'
    async with (
        scripted(answer(said, 503, headers=headers)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed))
        assert got.status == 503
        assert b"queue full" in got.body
        if hint:
            assert got.header("retry-after") == hint


def later(seconds: float) -> str:
    """Write a moment from now as an HTTP date."""
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return format_datetime(moment, usegmt=True)


WAITS = [
    later(5), later(-60), "9999999999", "-1", "soon", "1", "30", "", "1.5", "0", "1e400",
    "9" * 4000,
    "Thu, 32 Foo 2999 99:99:99 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "30, 60",
]  # fmt: skip


async def test_c038_no_retry_hint_upsets_the_proxy_and_each_passes_verbatim() -> None:
    values = iter(WAITS)
    sent: list[str] = []

    def refuse(_: Received) -> Script:
        sent.append(next(values))
        return answer(b"later", 429, "text/plain", [("Retry-After", sent[-1])])

    async with scripted(refuse) as backend, running_proxy(backend.url) as proxy:
        for value in WAITS:
            got = await post(proxy.service_port, chat())
            assert (got.status, got.body) == (429, b"later")
            assert got.header("retry-after") == value
        assert sent == WAITS
        backend.reply = json_answer(completion())
        assert (await post(proxy.service_port, chat())).status == 200
        await proxy.idle()


async def test_c038_a_longer_hint_outlasts_a_shorter_one_that_is_running() -> None:
    for_a_second = answer(b"later", 429, headers=[("Retry-After", "1")])
    async with (
        scripted(for_a_second) as a,
        scripted(for_a_second) as b,
        running_proxy(a.url, b.url) as proxy,
    ):
        assert (await post(proxy.service_port, chat())).status == 429
        a.reply = answer(b"later", 429, headers=[("Retry-After", "30")])
        while len(a.requests) < 2:
            # Both rest, so both are asked all the same, in turn.
            assert (await post(proxy.service_port, chat())).status == 429
            assert len(b.requests) < 5
        a.reply = b.reply = json_answer(completion())
        await asyncio.sleep(1.2)
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        # It asked for 30 s of peace, and the other one's second is over.
        assert len(a.requests) == 2
