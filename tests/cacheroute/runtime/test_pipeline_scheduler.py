"""What a Scheduler forwards, and the form in which it is answered."""

import json
from typing import Any

import pytest

from cacheroute.upstream import exchange
from tests.support.backend import refusing, scripted
from tests.support.client import Answer, connected, post
from tests.support.meta import meta_of, meta_of_json, without_key, without_meta
from tests.support.openai_shapes import CHAT, COMPLETIONS, DONE, completion, sse, token, tokens
from tests.support.proxy import running_proxy
from tests.support.script import (
    END,
    Close,
    Gate,
    Pause,
    Reset,
    Script,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)
from tests.support.sse import error_of

NO_MARK = "stream_wrap_failed: the Instance ended its stream without [DONE]"


def forwarded(**prompt: Any) -> bytes:
    """Return a Request with all of its blocks, as a Scheduler writes it."""
    whole = {
        "model": "m", "user_prompt": "What is a KV cache?", "token_length": 6, "bs": 1,
        "max_tokens": 1000, "stream": False, "temperature": 1.0, "top_p": 1.0, **prompt,
    }  # fmt: skip
    service = {
        "Enable_PD_Disaggregation": True, "Enable_know_injection": False,
        "Injection_type": "kvcache", "Knowledge_List": [], "SLO_TTFT": 5000,
        "Endpoint_type": "chat/completions",
    }  # fmt: skip
    task = {"KDN_server_addr": "10.0.0.1:9101", "P_proxy_id": "hp_1", "decode_instance": ""}
    return json.dumps(
        {
            "Request_ID": 17, "Request_type": "request", "Prompt": whole, "Service": service,
            "Task": task,
        }
    ).encode()  # fmt: skip


async def test_a_chat_is_asked_of_the_instance_in_openais_words() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, forwarded())
        assert (got.status, without_key(got.body)) == (200, completion())
        (received,) = backend.requests
        assert received.path == CHAT
        assert received.json() == {
            "model": "m",
            "messages": [{"role": "user", "content": "What is a KV cache?"}],
            "stream": False,
            "max_tokens": 1000,
            "temperature": 1.0,
            "top_p": 1.0,
        }


@pytest.mark.parametrize("word", [True, "true", 1])
async def test_a_chat_streams_when_it_says_so(word: object) -> None:
    said = stream(token("a"), DONE)
    async with scripted(said) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, forwarded(stream=word))
        assert without_meta(got.body) == token("a") + DONE
        assert backend.requests[0].json()["stream"] is True


async def test_a_completion_is_never_streamed() -> None:
    async with scripted(json_answer({"choices": []})) as backend, running_proxy(backend.url) as p:
        got = await post(p.service_port, forwarded(stream=True), COMPLETIONS)
        assert without_key(got.body) == {"choices": []}
        asked = backend.requests[0].json()
        assert asked["stream"] is False
        assert asked["prompt"] == "What is a KV cache?"
        assert "messages" not in asked


async def test_the_bearer_none_of_a_scheduler_is_no_key() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, forwarded(), headers=[("Authorization", "Bearer None")])
        assert backend.requests[0].head.one("authorization") is None


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (forwarded(model=None), "Prompt.model must be a string; it is missing."),
        (forwarded(user_prompt=["x"]), "Prompt.user_prompt must be a string; it is ['x']."),
        (forwarded(max_tokens="many"), "Prompt.max_tokens must be a number; it is 'many'."),
        (b'{"Request_ID":1,"Prompt":"x"}', "Prompt must be an object, not str."),
    ],
)
async def test_a_mistake_is_told_flat_with_the_field(body: bytes, detail: str) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, body)
        assert got.status == 400
        assert got.json() == {"error": "invalid_request_payload", "detail": detail}
        assert not backend.requests


async def test_that_nobody_is_there_is_told_flat() -> None:
    async with running_proxy() as proxy:
        got = await post(proxy.service_port, forwarded())
        assert (got.status, got.header("retry-after")) == (503, "1")
        assert got.json() == {"error": "no_instance", "detail": "No Instance is registered."}


async def test_draining_is_told_flat() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        proxy.app.proxy.draining = True
        got = await post(proxy.service_port, forwarded())
        assert (got.status, got.header("retry-after")) == (503, "5")
        assert got.json()["error"] == "draining"


async def test_a_failure_before_the_first_byte_is_told_flat() -> None:
    async with refusing() as dead, running_proxy(dead) as proxy:
        got = await post(proxy.service_port, forwarded())
        assert got.status == 502
        assert got.json()["error"] == "upstream_connect_failed"
        assert set(got.json()) == {"error", "detail"}


async def test_after_a_loss_in_the_middle_a_scheduler_gets_an_error_event_and_an_end() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, Reset())
    async with (
        scripted(reply) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=forwarded(stream=True))
        await client.body_of(1)
        gate.open()
        got = await client.over()
        assert got.whole
        assert not got.cut
        assert got.body.endswith(DONE)
        first, error, told, end = got.events
        assert told.name == b"cacheroute_meta"
        assert told.json()["error"].startswith("stream_wrap_failed: ")
        assert first.json()["choices"]
        assert (error_of(error) or {})["code"] == "upstream_closed"
        assert end.data == b"[DONE]"
        await proxy.idle()


async def test_an_error_event_of_the_instance_is_passed_on_and_not_followed_by_one_of_ours() -> (
    None
):
    error = sse({"error": {"message": "boom", "code": 400}})
    async with (
        scripted(stream(token("a"), error, DONE)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, forwarded(stream=True))
        assert without_meta(got.body) == token("a") + error + DONE
        assert meta_of(got.body)["error"] == "stream_wrap_failed: boom"


async def test_what_the_instance_refuses_passes_as_it_came() -> None:
    async with (
        scripted(json_answer({"error": {"message": "too long"}}, 400)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, forwarded())
        assert (got.status, got.json()) == (400, {"error": {"message": "too long"}})


async def streamed(*replies: Script) -> Answer:
    """Ask for a stream, which must be whole, of Instances that answer like this."""
    async with scripted(replies[0]) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, forwarded(stream=True))
        assert (got.status, got.whole) == (200, True)
        assert got.body.endswith(DONE)
        return got


# Streams


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_the_meta_stands_right_before_the_end_wherever_the_instance_cuts(end: bytes) -> None:
    said = (token("a") + b": ping\n\n" + token("b")).replace(b"\n", end)
    whole = said + DONE.replace(b"\n", end)
    cut = 0

    async with (
        scripted(
            lambda _: (stream_head(), chunk(whole[:cut]), Pause(0.0005), chunk(whole[cut:]), END)
        ) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        for cut in range(1, len(whole)):
            client.ask("POST", CHAT, body=forwarded(stream=True))
            got = await client.over()
            assert without_meta(got.body) == said + DONE, cut
            assert meta_of(got.body)["error"] is None


@pytest.mark.parametrize(
    ("pieces", "passed"),
    [
        ([token("a")], token("a")),
        ([], b""),
        ([token("a"), b'data: {"cho'], token("a") + b'data: {"cho\n\n'),
        ([token("a"), b"data: [DON"], token("a") + b"data: [DON\n\n"),
    ],
    ids=["between events", "at once", "in an event", "in the mark"],
)
async def test_a_stream_that_just_ends_is_told_and_has_an_end_all_the_same(
    pieces: list[bytes], passed: bytes
) -> None:
    got = await streamed(stream(*pieces))
    assert without_meta(got.body) == passed + DONE
    assert meta_of(got.body)["error"] == NO_MARK


async def test_a_mark_without_its_line_end_is_one() -> None:
    got = await streamed(stream(token("a"), b"data: [DONE]"))
    assert meta_of(got.body)["error"] is None
    assert got.body.count(b"[DONE]") == 1


@pytest.mark.parametrize("rest", [b"", b"dat", b'data: {"choices":[{"del'])
async def test_a_loss_inside_an_event_does_not_spoil_what_follows(rest: bytes) -> None:
    got = await streamed((stream_head(), chunk(token("a") + rest), Pause(0.01), Reset()))
    error, told, end = got.events[-3:]
    assert (error_of(error) or {})["code"] == "upstream_closed"
    assert told.json()["error"].startswith("stream_wrap_failed: ")
    assert {"first_token_ms", "forward_end_ms"} <= told.json()["trace"].keys()
    assert end.data == b"[DONE]"
    assert got.body.startswith(token("a") + rest)


async def test_a_stream_that_closes_inside_an_event_has_broken_off() -> None:
    lines = [("Content-Type", "text/event-stream")]
    said = token("a") + b'data: {"choi'
    got = await streamed((Write(head(200, lines) + said), Close()))
    assert got.body.startswith(said + b"\n\n")
    assert "in the middle of an event" in meta_of(got.body)["error"]


async def test_a_stream_that_opens_with_an_error_and_nobody_else_is_passed_on() -> None:
    said = sse({"error": {"message": "full", "code": 503}})
    got = await streamed(stream(said, DONE))
    assert without_meta(got.body) == said + DONE
    assert meta_of(got.body)["error"] == "stream_wrap_failed: full"


async def test_a_trace_holds_whole_numbers_and_words_only() -> None:
    got = await streamed(stream(*tokens(3), DONE))
    trace = meta_of(got.body)["trace"]
    assert {type(value) for value in trace.values()} <= {int, str}
    assert trace["proxy_recv_ms"] <= trace["forward_start_ms"] <= trace["first_token_ms"]


async def test_a_client_of_http_10_reads_until_it_closes() -> None:
    body = forwarded(stream=True)
    async with (
        scripted(stream(token("a"), DONE)) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.expect("POST")
        client.send(b"POST %b HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)))
        client.send(body)
        got = await client.over()
        assert (got.framing, without_meta(got.body)) == ("eof", token("a") + DONE)


@pytest.mark.parametrize("status", [400, 429, 500])
async def test_a_refusal_in_the_form_of_a_stream_passes_as_it_came(status: int) -> None:
    said = sse({"error": {"message": "no"}}) + DONE
    async with (
        scripted(answer(said, status, "text/event-stream")) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, forwarded(stream=True))
        assert (got.status, got.body) == (status, said)


async def test_json_in_place_of_a_stream_is_answered_as_json() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, forwarded(stream=True))
        assert without_key(got.body) == completion()
        assert got.header("content-type") == "application/json"


# JSON


@pytest.mark.parametrize(
    ("reply", "raw", "error"),
    [
        (answer(b"[1]"), "[1]", None),
        (answer(b"hello", content_type="text/plain"), "hello", None),
        (answer(b"hello", content_type=None), "hello", None),
        (answer(b""), "", "stream_wrap_failed: the Instance answered 200 with an empty body"),
        (answer(b" \n"), " \n", "stream_wrap_failed: the Instance answered 200 with an empty body"),
    ],
)
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
async def test_what_is_no_object_is_told_as_raw(
    reply: Script, raw: str, error: str | None, path: str
) -> None:
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, forwarded(), path)
        assert (got.status, got.header("content-type")) == (200, "application/json")
        assert without_key(got.body) == {"raw": raw}
        assert meta_of_json(got.body)["error"] == error


async def test_a_json_answer_beyond_the_limit_passes_unharmed() -> None:
    said = b'{"a":"%b"}' % (b"x" * 2 * exchange.WHOLE_MAX_BYTES)
    framed = (stream_head(content_type="application/json"), chunk(said), END)
    for reply in (answer(said), framed):
        async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
            got = await post(proxy.service_port, forwarded())
            assert (got.status, got.body == said) == (200, True)
            await proxy.idle()


async def test_coded_json_passes_as_it_came() -> None:
    reply = answer(b"\x1f\x8b\x08", headers=[("Content-Encoding", "gzip")])
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, forwarded(), COMPLETIONS)
        assert (got.body, got.header("content-encoding")) == (b"\x1f\x8b\x08", "gzip")


async def test_json_that_breaks_off_is_asked_of_another_instance() -> None:
    lines = [("Content-Type", "application/json"), ("Content-Length", "99")]
    async with (
        scripted((Write(head(200, lines) + b'{"a":'), Reset())) as bad,
        scripted() as good,
        running_proxy(bad.url, good.url) as proxy,
    ):
        got = await post(proxy.service_port, forwarded())
        assert (without_key(got.body), got.header("x-cacheroute-attempts")) == (completion(), "2")


async def test_half_a_letter_in_an_id_is_refused_by_name() -> None:
    asked = json.loads(forwarded())
    asked["Service"] |= {"Enable_know_injection": True, "Knowledge_List": ["\ud800"]}
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, json.dumps(asked).encode())
        assert got.status == 400
        assert "Service.Knowledge_List is not text" in got.json()["detail"]
