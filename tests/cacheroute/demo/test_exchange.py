"""How a request ends: by itself, because its client left, or because a fault was ordered."""

import asyncio
import json

import httpx
import pytest

from tests.cacheroute.demo.live import Live, chat_body, data_of, live, raw_until_end, text_of

PATH = "/v1/chat/completions"


async def gone(on: Live) -> None:
    """Wait until nothing is under way."""
    async with asyncio.timeout(20):
        while on.instance.service.inflight:  # noqa: ASYNC110 - nobody tells when a socket closes
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("streams", [True, False])
async def test_a_client_that_leaves_frees_the_engine_at_once(streams: bool) -> None:
    async with live(speed=1.0) as on:
        engine = on.instance.engine
        reader, writer = await asyncio.open_connection("127.0.0.1", on.instance.port)
        body = json.dumps(chat_body("hi", max_tokens=4000, stream=streams)).encode()
        head = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        writer.write(head % PATH.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        async with asyncio.timeout(20):
            if streams:
                await reader.readuntil(b"data: ")
            while not engine.running:  # noqa: ASYNC110 - the engine has no bell
                await asyncio.sleep(0.005)
        assert engine.kv_usage_ratio > 0
        writer.transport.abort()
        await gone(on)
        assert (engine.running, engine.waiting, engine.kv.held) == (0, 0, 0)
        assert engine.totals.aborted == 1
        page = (await on.http.get("/metrics")).text
    assert 'finished_reason="abort",model_name="tiny"} 0.0' in page


async def test_a_client_that_leaves_takes_all_its_choices_along() -> None:
    async with live(speed=1.0) as on:
        body = chat_body("hi", max_tokens=4000, n=4, stream=True)
        async with on.http.stream("POST", PATH, json=body) as answer:
            await anext(answer.aiter_raw())
        await gone(on)
        assert on.instance.engine.totals.aborted == 4


async def test_a_stream_that_dies_ends_in_a_reset_after_exactly_so_many_tokens() -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "die_mid_stream", "after_tokens": 3})
        body = chat_body("hi", max_tokens=50, stream=True)
        read, was_reset = await raw_until_end(on.instance.port, PATH, body)
        assert was_reset
        assert text_of(data_of(read.decode().replace("\r\n", "\n"))) == "This is a mo"
        assert b"[DONE]" not in read
        assert on.instance.engine.running == 0
        assert await on.chat("hi")


async def test_a_json_answer_that_dies_is_cut_and_reset() -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "die_mid_stream"})
        read, was_reset = await raw_until_end(on.instance.port, PATH, chat_body("hi", max_tokens=5))
    assert was_reset
    assert read.startswith(b"HTTP/1.1 200 OK")
    assert b'{"id":"chatcmpl-' in read
    assert b"usage" not in read


@pytest.mark.parametrize("streams", [True, False])
async def test_an_answer_may_die_before_its_first_byte(streams: bool) -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "die_mid_stream", "after_tokens": 0})
        body = chat_body("hi", stream=streams)
        assert await raw_until_end(on.instance.port, PATH, body) == (b"", True)


async def test_a_short_answer_dies_before_its_end_all_the_same() -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "die_mid_stream", "after_tokens": 99})
        body = chat_body("hi", max_tokens=2, stream=True)
        read, was_reset = await raw_until_end(on.instance.port, PATH, body)
    assert was_reset
    assert b"[DONE]" not in read


async def test_an_error_may_be_an_event_in_a_200() -> None:
    async with live() as on:
        await on.http.post(
            "/demo/fault", json={"kind": "error_event", "after_tokens": 0, "count": 2}
        )
        events = await on.events(PATH, chat_body("hi", stream=True))
        assert json.loads(events[0])["error"]["code"] == 500
        assert events[1:] == ["[DONE]"]
        plain = await on.post(PATH, chat_body("hi"))
        assert (plain.status_code, plain.json()["error"]["code"]) == (500, 500)


async def test_an_error_is_what_was_ordered_and_only_as_often() -> None:
    async with live() as on:
        order = {"kind": "error", "status": 503, "count": 2, "retry_after_s": 7}
        await on.http.post("/demo/fault", json=order)
        answers = [await on.post(PATH, chat_body("hi", max_tokens=1)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert answers[0].headers["retry-after"] == "7"


async def test_a_request_that_is_no_request_uses_up_no_fault() -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "error"})
        assert (await on.post(PATH, {})).status_code == 400
        assert (await on.post(PATH, chat_body("hi"))).status_code == 500


async def test_a_frozen_engine_takes_requests_and_says_nothing() -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "freeze"})
        asking = asyncio.ensure_future(on.chat("hi", max_tokens=2))
        assert (await on.http.get("/health")).status_code == 200
        for _ in range(50):
            await asyncio.sleep(0)
        assert not asking.done()
        await on.http.delete("/demo/fault")
        assert (await asking)["usage"]["completion_tokens"] == 2


async def test_many_streams_at_once_all_end_well() -> None:
    async with live(speed=1000.0) as on:
        limits = httpx.Limits(max_connections=64)
        url = str(on.http.base_url)
        async with httpx.AsyncClient(base_url=url, limits=limits, trust_env=False) as http:
            asked = [
                http.post(PATH, json=chat_body(f"{n}", max_tokens=20, stream=True))
                for n in range(64)
            ]
            answers = await asyncio.gather(*asked)
        engine = on.instance.engine
    assert all(len(data_of(answer.text)) == 22 for answer in answers)
    assert (engine.totals.finished, engine.totals.generation_tokens) == (64, 64 * 20)
    assert engine.kv.held == 0
