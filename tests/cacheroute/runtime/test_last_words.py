"""The meta of a plain client's request, for those who ask for it, and what others are spared."""

import json
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.support.backend import Reply, refusing, scripted
from tests.support.client import Answer, connected, fetch, post
from tests.support.meta import meta_of, meta_of_json, without_key, without_meta
from tests.support.openai_shapes import (
    CHAT,
    COMPLETIONS,
    DONE,
    STOP,
    USAGE,
    chat,
    completion,
    sse,
    token,
)
from tests.support.proxy import RunningProxy, running_proxy
from tests.support.script import (
    END,
    Gate,
    Reset,
    Script,
    answer,
    chunk,
    json_answer,
    stream,
    stream_head,
)
from tests.support.sse import error_of, events

HEADER = "X-CacheRoute-Meta"
PIECES = [token("a"), token("b"), STOP, sse({"choices": [], "usage": USAGE})]
SAID = b"".join(PIECES)
NO_MARK = "stream_wrap_failed: the Instance ended its stream without [DONE]"


async def asked(
    reply: Reply, form: str | None = "event", *, path: str = CHAT, streams: bool = True
) -> Answer:
    """Ask an Instance that answers like this, as a client that wants its meta in some form."""
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        headers = [] if form is None else [(HEADER, form)]
        got = await post(proxy.service_port, chat(stream=streams), path, headers=headers)
        (received,) = backend.requests
        assert received.body == chat(stream=streams)
        assert received.head.one(HEADER.lower()) is None
        await proxy.idle()
        return got


def chunk_meta(body: bytes) -> dict[str, Any]:
    """Return the meta of a stream that tells it in a chunk, right before its end."""
    last, end = events(body)[-2:]
    assert (last.name, end.data) == (b"message", b"[DONE]")
    assert last.json()["choices"] == []
    told = last.json()["_cacheroute_meta"]
    assert isinstance(told, dict)
    assert body.count(b"_cacheroute_meta") == 1
    return told


def logged(proxy: RunningProxy) -> dict[str, Any]:
    """Return the only line of the request log."""
    log = proxy.app._request_log
    log.flush()
    assert log.path is not None
    (line,) = log.path.read_text().splitlines()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


# Who does not ask


@pytest.mark.parametrize("form", [None, "", "off", "false"])
@pytest.mark.parametrize(
    ("reply", "streams"),
    [
        (stream(*PIECES, DONE), True),
        (stream(SAID), True),
        (json_answer(completion()), False),
        (answer(b"[1]"), False),
        (answer(b"plain", content_type="text/plain"), False),
    ],
    ids=["stream", "stream without an end", "json", "a list", "text"],
)
async def test_who_does_not_ask_gets_what_the_instance_said(
    reply: Script, streams: bool, form: str | None
) -> None:
    async with scripted(reply) as backend:
        straight = await post(backend.port, chat(stream=streams))
    got = await asked(reply, form, streams=streams)
    assert got.body == straight.body
    assert got.header("content-type") == straight.header("content-type")


# Streams


@pytest.mark.parametrize("form", ["event", "EVENT", "1", "true", "anything"])
async def test_the_meta_is_an_event_right_before_the_end(form: str) -> None:
    got = await asked(stream(*PIECES, DONE), form)
    assert without_meta(got.body) == SAID + DONE
    told = meta_of(got.body)
    assert list(told) == [
        "trace", "kv_ack", "kv_ready_kids", "text_only_kids", "miss_kids", "error",
    ]  # fmt: skip
    assert told["error"] is None
    trace = told["trace"]
    assert trace["proxy_recv_ms"] <= trace["forward_start_ms"] <= trace["first_token_ms"]
    assert {type(value) for value in trace.values()} <= {int, str}


@pytest.mark.parametrize("form", ["chunk", "Chunk"])
async def test_or_a_chunk_that_strict_clients_read_past(form: str) -> None:
    got = await asked(stream(*PIECES, DONE), form)
    assert got.body.startswith(SAID)
    assert chunk_meta(got.body)["error"] is None
    assert got.events[-2].json()["object"] == "chat.completion.chunk"
    assert got.events[-2].json()["model"] == "m"


async def test_a_chunk_of_a_completion_is_one_of_a_completion() -> None:
    got = await asked(stream(sse({"choices": [{"text": "a"}]}), DONE), "chunk", path=COMPLETIONS)
    assert chunk_meta(got.body)["error"] is None
    assert got.events[-2].json()["object"] == "text_completion"


async def test_a_stream_without_an_end_mark_gets_none_and_its_meta_says_so() -> None:
    got = await asked(stream(*PIECES))
    *_, last = got.events
    assert without_meta(got.body) == SAID
    assert last.name == b"cacheroute_meta"
    assert last.json()["error"] == NO_MARK


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses"])
async def test_a_stream_that_never_has_an_end_mark_lacks_nothing(path: str) -> None:
    said = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'
    got = await asked(stream(said), path=path)
    assert without_meta(got.body) == said
    assert got.events[-1].json()["error"] is None


@pytest.mark.parametrize("form", ["event", "chunk"])
async def test_a_stream_that_breaks_off_is_told_and_cut(form: str) -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a") + b"data: {"), gate, Reset())
    async with (
        scripted(reply) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, [(HEADER, form)], chat(stream=True))
        await client.body_of(len(token("a")))
        gate.open()
        got = await client.over()
        assert got.cut
        assert b"[DONE]" not in got.body
        error, last = got.events[-2:]
        assert (error_of(error) or {})["code"] == "upstream_closed"
        told = last.json() if form == "event" else last.json()["_cacheroute_meta"]
        assert told["error"].startswith("stream_wrap_failed: ")
        await proxy.idle()
        assert logged(proxy)["bytes_out"] == len(got.body)


async def test_an_error_in_a_stream_is_told_once_more() -> None:
    error = sse({"error": {"message": "boom", "code": 500}})
    got = await asked(stream(token("a"), error, DONE))
    assert without_meta(got.body) == token("a") + error + DONE
    assert meta_of(got.body)["error"] == "stream_wrap_failed: boom"


async def test_a_page_may_ask_for_it() -> None:
    async with scripted() as b, running_proxy(b.url, proxy__cors_origins=["http://a"]) as proxy:
        asking = [
            ("Origin", "http://a"),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", HEADER.lower()),
        ]
        got = await fetch(proxy.service_port, "OPTIONS", CHAT, asking)
        assert got.header("access-control-allow-headers") == HEADER.lower()


# JSON, and everything else


@pytest.mark.parametrize("form", ["event", "chunk", "anything"])
async def test_a_json_answer_gets_a_key(form: str) -> None:
    got = await asked(json_answer(completion()), form, streams=False)
    assert without_key(got.body) == completion()
    assert got.body.startswith(json.dumps(completion()).encode()[:-1])
    assert meta_of_json(got.body)["error"] is None
    assert got.framing == "length"


async def test_json_that_is_no_object_is_kept_as_text() -> None:
    got = await asked(answer(b"[1]"), streams=False)
    assert without_key(got.body) == {"raw": "[1]"}


@pytest.mark.parametrize(
    "reply",
    [
        json_answer({"error": {"message": "no"}}, 400),
        json_answer({"error": {"message": "no"}}, 429),
        json_answer({"error": {"message": "no"}}, 500),
        answer(sse({"error": "no"}), 500, "text/event-stream"),
        answer(b"some words", content_type="text/plain"),
        answer(b"\x00\x01", content_type="audio/mpeg"),
        answer(b"\x1f\x8b", headers=[("Content-Encoding", "gzip")]),
    ],
)
async def test_what_has_no_place_for_it_passes_as_it_came(reply: Script) -> None:
    async with scripted(reply) as backend:
        straight = await post(backend.port, chat())
    got = await asked(reply, streams=False)
    assert (got.status, got.body) == (straight.status, straight.body)
    assert got.header("content-type") == straight.header("content-type")


async def test_an_error_of_ours_is_openais_object_and_has_no_meta() -> None:
    async with refusing() as dead, running_proxy(dead) as proxy:
        got = await post(proxy.service_port, chat(), headers=[(HEADER, "event")])
        assert got.status == 502
        assert got.error["code"] == "upstream_connect_failed"
        assert set(got.json()) == {"error"}


@pytest.mark.parametrize(
    ("reply", "streams"),
    [(stream(*PIECES, DONE), True), (stream(SAID), True), (json_answer(completion()), False)],
)
async def test_the_request_log_counts_what_was_sent(reply: Script, streams: bool) -> None:
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        sent = chat(stream=streams)
        got = await post(proxy.service_port, sent, headers=[(HEADER, "event")])
        line = logged(proxy)
        assert (line["outcome"], line["bytes_out"]) == ("ok", len(got.body))
        assert (line["prompt_tokens"], line["completion_tokens"]) == (7, 3)


async def test_an_instance_with_a_cap_tells_nobody_who_does_not_ask() -> None:
    async with scripted(stream(*PIECES, DONE)) as backend, running_proxy() as proxy:
        await proxy.register(host=backend.host, port=backend.port, max_concurrent=1)
        for _ in range(2):
            got = await post(proxy.service_port, chat(stream=True))
            assert got.body == SAID + DONE


async def test_nothing_is_held_for_a_client_that_has_left() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, END)
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, [(HEADER, "event")], chat(stream=True))
            await client.body_of(1)
            received = await backend.received()
            client.reset()
        await received.gone.wait()
        await proxy.idle()
        assert logged(proxy)["outcome"] == "client_gone"


# The official client


def client_of(proxy: RunningProxy, form: str) -> AsyncOpenAI:
    return AsyncOpenAI(
        base_url=f"{proxy.service_url}/v1",
        api_key="k",
        max_retries=0,
        timeout=20,
        default_headers={HEADER: form},
    )


QUESTION: Any = [{"role": "user", "content": "?"}]


async def test_the_official_client_reads_past_the_chunk() -> None:
    async with (
        scripted(stream(*PIECES, DONE)) as backend,
        running_proxy(backend.url) as proxy,
        client_of(proxy, "chunk") as client,
    ):
        parts = await client.chat.completions.create(model="m", messages=QUESTION, stream=True)
        read = [part async for part in parts]
        assert "".join(c.delta.content or "" for part in read for c in part.choices) == "ab"
        assert read[-2].usage is not None
        extra = read[-1].model_extra or {}
        assert extra["_cacheroute_meta"]["error"] is None


async def test_the_helper_of_the_official_client_reads_past_the_chunk() -> None:
    async with (
        scripted(stream(*PIECES, DONE)) as backend,
        running_proxy(backend.url) as proxy,
        client_of(proxy, "chunk") as client,
        client.chat.completions.stream(model="m", messages=QUESTION) as parts,
    ):
        whole = await parts.get_final_completion()
        assert whole.choices[0].message.content == "ab"


async def test_the_official_client_finds_the_key() -> None:
    async with scripted() as b, running_proxy(b.url) as proxy, client_of(proxy, "event") as client:
        got = await client.chat.completions.create(model="m", messages=QUESTION)
        assert got.choices[0].message.content == "hi"
        assert (got.model_extra or {})["_cacheroute_meta"]["error"] is None
