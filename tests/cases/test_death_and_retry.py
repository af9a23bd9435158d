"""C028, C029: before the first byte another Instance is asked, after it never."""

import asyncio
import hashlib

import pytest

from tests.support.backend import ScriptedBackend, refusing, scripted, unreachable
from tests.support.client import post
from tests.support.openai_shapes import DONE, chat, chunk_object, completion, sse, token, tokens
from tests.support.proxy import LONG_REST, running_proxy
from tests.support.script import (
    Close,
    Freeze,
    Pause,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.sse import error_of

DEATHS: dict[str, Script] = {
    "reset": (Pause(0.05), Reset()),
    "closed": (Close(),),
    "garbage": (Write(b"xyz\r\n"), Freeze()),
    "silence": (Freeze(),),
    "an error event": (chunk(sse({"error": {"message": "gone"}})), Close()),
}


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
async def test_c028_an_answer_that_has_begun_is_never_begun_again(death: Script) -> None:
    said = tokens(5)
    async with (
        scripted((stream_head(), *map(chunk, said), *death)) as dying,
        scripted(stream(token("other"), DONE)) as healthy,
        running_proxy(dying.url, healthy.url, timeouts__between_bytes_s=0.4) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        assert got.body.startswith(b"".join(said))
        assert b"other" not in got.body
        assert error_of(got.events[-1]) is not None
        assert got.cut
        assert got.header("x-cacheroute-instance") == dying.instance_id
        assert (len(dying.requests), len(healthy.requests)) == (1, 0)
        assert await proxy.failures() == 1
        await proxy.idle()


async def test_c028_deaths_mid_stream_take_the_instance_out() -> None:
    async with (
        scripted((stream_head(), chunk(token("a")), Close())) as dying,
        scripted(stream(token("b"), DONE)) as healthy,
        running_proxy(dying.url, healthy.url, pool__ejection__failures=3, **LONG_REST) as proxy,
    ):
        for _ in range(20):
            await post(proxy.service_port, chat(stream=True))
        assert len(dying.requests) == 3
        assert len(healthy.requests) == 17


async def test_c028_usage_counts_the_dead_instance_alone() -> None:
    usage = {"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 9}
    said = sse(chunk_object({"content": "a"}, usage=usage))
    async with (
        scripted((stream_head(), chunk(said), Close())) as dying,
        scripted(stream(token("b"), DONE)) as healthy,
        running_proxy(dying.url, healthy.url) as proxy,
    ):
        await post(proxy.service_port, chat(stream=True))
        counted = await proxy.samples("tokens", "kind")
        assert (counted["prompt"], counted["completion"]) == (4, 5)
        by_instance = await proxy.samples("tokens", "instance")
        assert by_instance[healthy.instance_id] == 0


async def twenty(port: int, good: ScriptedBackend) -> None:
    """Send twenty requests, half of them streams; the good Instance must answer each, once."""
    before = len(good.requests)
    for n in range(20):
        streamed = n % 2 == 0
        good.reply = stream(token("ok"), DONE) if streamed else json_answer(completion())
        got = await post(port, chat(f"number {n}", stream=streamed))
        assert got.status == 200, got.body
        assert got.whole
        assert got.header("x-cacheroute-instance") == good.instance_id
    bodies = [received.body for received in good.requests[before:]]
    assert bodies == [chat(f"number {n}", stream=n % 2 == 0) for n in range(20)]


async def test_c029_a_refusing_instance_costs_nobody_an_answer() -> None:
    async with (
        refusing() as closed,
        scripted() as good,
        running_proxy(closed, good.url) as proxy,
    ):
        await twenty(proxy.service_port, good)
        await proxy.idle()


async def test_c029_an_unreachable_instance_costs_the_connect_limit_at_most() -> None:
    async with (
        unreachable() as silent,
        scripted() as good,
        running_proxy(
            silent, good.url, timeouts__connect_s=0.3, pool__ejection__failures=3, **LONG_REST
        ) as proxy,
    ):
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await twenty(proxy.service_port, good)
        # Three meet the limit, then the silent one is out.
        assert loop.time() - began_s < 3 * 0.3 + 2.0
        await proxy.idle()


BEFORE_ANY_BYTE: dict[str, Script] = {
    "reads and closes": (Close(),),
    "reads and resets": (Reset(),),
    "closes inside the head": (Write(b"HTTP/1.1 200 OK\r\nContent-"), Close()),
    "speaks another protocol": (Write(b"SSH-2.0-OpenSSH_9.6\r\n"), Close()),
    "500": json_answer({"error": {"message": "boom"}}, 500),
    "500 without a body": answer(b"", 500, content_type=None),
    "502 in HTML": answer(b"<html>bad gateway</html>", 502, "text/html"),
    "503": json_answer({"error": {"message": "loading"}}, 503),
    "504": answer(b"late", 504, "text/plain"),
    "408": answer(b"slow", 408, "text/plain"),
}
NOT_A_FAULT = [BEFORE_ANY_BYTE["503"], BEFORE_ANY_BYTE["408"]]
"""Asked elsewhere as well, but whether they take an Instance out is left open."""


@pytest.mark.parametrize("script", BEFORE_ANY_BYTE.values(), ids=BEFORE_ANY_BYTE)
async def test_c029_a_failure_before_any_byte_is_made_good_by_another(script: Script) -> None:
    async with (
        scripted(script) as bad,
        scripted() as good,
        running_proxy(bad.url, good.url, pool__ejection__failures=3, **LONG_REST) as proxy,
    ):
        await twenty(proxy.service_port, good)
        if script not in NOT_A_FAULT:
            assert len(bad.requests) == 3
        await proxy.idle()


@pytest.mark.parametrize("death", [Close(), Reset()], ids=["closed", "reset"])
async def test_c029_a_stream_that_dies_before_its_first_event_is_asked_elsewhere(
    death: Close | Reset,
) -> None:
    async with (
        scripted((stream_head(), death)) as bad,
        scripted(stream(token("ok"), DONE)) as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=True))
        assert got.body == token("ok") + DONE
        await proxy.idle()


@pytest.mark.parametrize("on_accept", ["close", "reset"])
async def test_c029_an_instance_that_closes_before_reading_costs_nobody(on_accept: str) -> None:
    async with (
        scripted(on_accept=on_accept) as bad,
        scripted() as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        await twenty(proxy.service_port, good)
        await proxy.idle()


async def test_c029_a_crash_between_two_requests_costs_nobody() -> None:
    async with (
        scripted() as mortal,
        scripted() as good,
        running_proxy(mortal.url, good.url) as proxy,
    ):
        for _ in range(4):
            assert (await post(proxy.service_port, chat())).status == 200
        mortal.refuse()
        await twenty(proxy.service_port, good)
        await proxy.idle()


async def test_c029_an_instance_that_is_back_gets_requests_again() -> None:
    async with (
        scripted() as mortal,
        scripted() as good,
        running_proxy(
            mortal.url,
            good.url,
            pool__ejection__failures=1,
            pool__ejection__cool_down_s=0.2,
            pool__ejection__cool_down_max_s=0.4,
        ) as proxy,
    ):
        mortal.refuse()
        await twenty(proxy.service_port, good)
        await mortal.listen()
        async with asyncio.timeout(5):
            while not mortal.requests:
                assert (await post(proxy.service_port, chat())).status == 200


async def test_c029_a_large_body_is_the_same_for_the_second_instance() -> None:
    body = chat("x" * 3_000_000)
    async with (
        scripted((Close(),)) as bad,
        scripted() as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        assert (await post(proxy.service_port, body)).status == 200
        assert good.requests[0].sha256 == hashlib.sha256(body).hexdigest()
        assert len(bad.requests) == 1


async def test_c029_each_instance_is_asked_once_and_then_the_caller_is_told() -> None:
    async with (
        scripted((Close(),)) as a,
        scripted((Reset(),)) as b,
        running_proxy(a.url, b.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status == 502
        assert got.error["message"]
        assert (len(a.requests), len(b.requests)) == (1, 1)
        await proxy.idle()


async def test_c029_when_all_fail_alike_the_cause_is_not_lost() -> None:
    cause = {"error": {"message": "CUDA error", "type": "server_error", "param": None, "code": 500}}
    async with (
        scripted(json_answer(cause, 500)) as a,
        scripted(json_answer(cause, 500)) as b,
        running_proxy(a.url, b.url) as proxy,
    ):
        got = await post(proxy.service_port, chat())
        assert got.status in (500, 502)
        assert "CUDA error" in got.body.decode()
        assert (len(a.requests), len(b.requests)) == (1, 1)


async def test_c029_nobody_at_all_is_said_in_words() -> None:
    async with running_proxy() as proxy:
        got = await post(proxy.service_port, chat())
        assert got.status == 503
        assert got.error["code"] == "no_instance"
        assert got.header("retry-after")
