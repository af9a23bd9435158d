"""What a Scheduler forwards, and the form in which it is answered."""

import json
from typing import Any

import pytest

from tests.support.backend import refusing, scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, COMPLETIONS, DONE, completion, sse, token
from tests.support.proxy import running_proxy
from tests.support.script import Gate, Reset, chunk, json_answer, stream, stream_head
from tests.support.sse import error_of


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
        assert (got.status, got.json()) == (200, completion())
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
        assert got.body == token("a") + DONE
        assert backend.requests[0].json()["stream"] is True


async def test_a_completion_is_never_streamed() -> None:
    async with scripted(json_answer({"choices": []})) as backend, running_proxy(backend.url) as p:
        got = await post(p.service_port, forwarded(stream=True), COMPLETIONS)
        assert got.json() == {"choices": []}
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
        first, error, end = got.events
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
        assert got.body == token("a") + error + DONE


async def test_what_the_instance_refuses_passes_as_it_came() -> None:
    async with (
        scripted(json_answer({"error": {"message": "too long"}}, 400)) as backend,
        running_proxy(backend.url) as proxy,
    ):
        got = await post(proxy.service_port, forwarded())
        assert (got.status, got.json()) == (400, {"error": {"message": "too long"}})
