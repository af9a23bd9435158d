"""Every path over a real socket; what is generated is looked at more closely in `shapes`."""

import json
from typing import Any

import httpx
import pytest

from cacheroute.demo.service import ENDPOINTS, GENERATING
from tests.cacheroute.demo.live import JSON, Live, chat_body, data_of, live, text_of

LONG = "A document that two questions are asked about. " * 100


async def test_the_small_paths_answer_as_vllm_does() -> None:
    async with live() as on:
        health = await on.http.get("/health")
        assert (health.status_code, health.content) == (200, b"")
        for method in ("GET", "POST"):
            assert (await on.http.request(method, "/ping")).content == b""
        assert (await on.http.get("/version")).json()["version"].startswith("0.32.0")
        assert (await on.http.get("/load")).content == b'{"server_load":0}'


async def test_models_is_the_one_that_is_served() -> None:
    async with live() as on:
        listed = (await on.http.get("/v1/models")).json()
    assert (listed["object"], len(listed["data"])) == ("list", 1)
    card = listed["data"][0]
    assert (card["id"], card["object"], card["owned_by"]) == ("tiny", "model", "vllm")
    assert card["max_model_len"] == 8192


async def test_metrics_are_a_prometheus_page() -> None:
    async with live() as on:
        await on.chat("hi", max_tokens=4)
        page = await on.http.get("/metrics")
    assert page.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    line = 'vllm:generation_tokens_total{engine="0",model_name="tiny"} 4.0'
    assert line in page.text.splitlines()


async def test_a_chat_is_answered_whole_and_streamed_alike() -> None:
    async with live() as on:
        whole = await on.chat("hi", max_tokens=12)
        events = await on.events(
            "/v1/chat/completions", chat_body("hi", max_tokens=12, stream=True)
        )
    assert events[-1] == "[DONE]"
    assert text_of(events) == whole["choices"][0]["message"]["content"]
    assert len(events) == 1 + 12 + 1


async def test_a_repeated_request_gets_the_same_answer() -> None:
    async with live() as on:
        texts = [(await on.chat("hi"))["choices"][0]["message"]["content"] for _ in range(2)]
    assert texts[0] == texts[1]


async def test_a_common_prefix_is_cached_and_costs_less_to_compute() -> None:
    async with live() as on:
        engine = on.instance.engine
        cold = await on.chat(LONG + "First question?", max_tokens=2)
        cold_s = engine.totals.prefill_s
        warm = await on.chat(LONG + "Another one?", max_tokens=2)
        warm_s = engine.totals.prefill_s - cold_s
    assert cold["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    cached = warm["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached % 16 == 0
    assert warm["usage"]["prompt_tokens"] - cached < 32
    assert warm_s < cold_s / 20
    assert engine.totals.prefix_hits_tokens == cached


async def test_the_next_turn_of_a_chat_finds_the_last_answer_in_the_cache() -> None:
    async with live() as on:
        first = await on.chat(LONG, max_tokens=100)
        said = first["choices"][0]["message"]
        turns = [*chat_body(LONG)["messages"], said, {"role": "user", "content": "And?"}]
        second = (await on.post("/v1/chat/completions", {"messages": turns})).json()
    cached = second["usage"]["prompt_tokens_details"]["cached_tokens"]
    assert cached >= first["usage"]["prompt_tokens"] + 100 - 16


async def test_another_salt_shares_nothing() -> None:
    async with live() as on:
        await on.chat(LONG, max_tokens=1, cache_salt="a")
        other = await on.chat(LONG, max_tokens=1, cache_salt="b")
        same = await on.chat(LONG, max_tokens=1, cache_salt="a")
    assert other["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert same["usage"]["prompt_tokens_details"]["cached_tokens"] > 0


async def test_a_request_id_becomes_the_id_of_the_answer_and_may_come_twice_at_once() -> None:
    async with live() as on:
        given = {"x-request-id": "my-id-1"}
        answer = await on.post("/v1/completions", {"prompt": "x"}, **given)
        assert answer.json()["id"] == "cmpl-my-id-1"
        body = chat_body("hi", max_tokens=50)
        async with (
            on.http.stream("POST", "/v1/chat/completions", json=body, headers=given) as one,
            on.http.stream("POST", "/v1/chat/completions", json=body, headers=given) as two,
        ):
            assert (await one.aread()) == (await two.aread())


async def test_completions_messages_and_responses_are_served_both_ways() -> None:
    asked: dict[str, dict[str, Any]] = {
        "/v1/completions": {"prompt": "def f", "max_tokens": 3},
        "/v1/messages": chat_body("hi", max_tokens=3),
        "/v1/responses": {"input": "hi", "max_output_tokens": 3},
    }
    async with live() as on:
        for path, body in asked.items():
            whole = await on.post(path, body)
            assert whole.status_code == 200
            assert "This is a mo" in whole.text
            events = await on.events(path, {**body, "stream": True})
            assert "This" in events[0] + events[1] + events[4 if len(events) > 8 else 2]


async def test_embeddings_and_rerankings_read_prompts_through_the_engine() -> None:
    async with live() as on:
        embedded = await on.post("/v1/embeddings", {"input": ["a", "b" * 400]})
        assert [row["index"] for row in embedded.json()["data"]] == [0, 1]
        ranked = await on.post("/v1/rerank", {"query": "red", "documents": ["blue", "red"]})
        assert ranked.json()["results"][0]["index"] == 1
        assert on.instance.engine.totals.finished == 4
        assert on.instance.engine.totals.generation_tokens == 0


async def test_text_is_tokenized_and_back() -> None:
    async with live() as on:
        there = (await on.post("/tokenize", {"prompt": "def f(x):"})).json()
        assert (there["count"], there["max_model_len"], there["token_strs"]) == (3, 8192, None)
        back = await on.post("/detokenize", {"tokens": there["tokens"]})
        assert back.json() == {"prompt": "def f(x):"}
        shown = (await on.post("/tokenize", {"prompt": "def f", "return_token_strs": True})).json()
        assert shown["token_strs"] == ["def ", "f"]
        chat = (await on.post("/tokenize", chat_body("hi"))).json()
        assert chat["count"] == 4
        assert (await on.post("/tokenize", {"prompt": ""})).json()["tokens"] == []
        counted = await on.post("/v1/messages/count_tokens", chat_body("hi"))
        assert counted.json() == {"input_tokens": 4}


async def test_unknown_paths_and_methods_are_answered_as_vllm_does() -> None:
    async with live() as on:
        unknown = await on.http.get("/v1/unheard-of")
        assert (unknown.status_code, unknown.text) == (404, '{"detail":"Not Found"}')
        wrong = await on.http.get("/v1/chat/completions")
        assert (wrong.status_code, wrong.text) == (405, '{"detail":"Method Not Allowed"}')
        assert wrong.headers["allow"] == "POST"


@pytest.mark.parametrize("path", sorted(GENERATING))
async def test_every_generating_path_refuses_what_is_no_request(path: str) -> None:
    async with live() as on:
        for content, headers, status in [
            (b"{", JSON, 400),
            (b"", JSON, 400),
            (b"[]", JSON, 400),
            (b"{}", {}, 400),
            (b'{"model": "nope", "max_tokens": 1, "input": "x"}', JSON, 404),
        ]:
            answer = await on.http.post(path, content=content, headers=headers)
            assert answer.status_code == status, (content, answer.text)
            assert answer.json()["error"]["code"] == status
        assert on.instance.service.inflight == 0


async def test_a_stream_that_cannot_begin_is_a_plain_error() -> None:
    async with live() as on:
        body = chat_body("x" * 40_000, stream=True)
        answer = await on.post("/v1/chat/completions", body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["param"] == "input_tokens"


async def test_more_waiting_requests_than_the_limit_are_told_to_come_back() -> None:
    async with live(max_queued=1, speed=0.01) as on:
        # The first runs, the second waits for the next step, the third is one too many.
        async with streaming(on, "a"), streaming(on, "b"):
            answer = await on.post("/v1/chat/completions", chat_body("c"))
        assert answer.status_code == 503
        assert answer.json()["error"]["type"] == "Service Unavailable"
        page = (await on.http.get("/metrics")).text
    rejected = 'vllm:admission_rejections_total{model_name="tiny",reason="max_num_queued_reqs"} 1.0'
    assert rejected in page.splitlines()


def streaming(on: Live, text: str) -> Any:
    """Begin a stream; its head is there before its first token."""
    return on.http.stream("POST", "/v1/chat/completions", json=chat_body(text, stream=True))


async def test_what_is_under_way_is_counted() -> None:
    async with live(speed=0.01) as on, streaming(on, "a"):
        assert on.instance.service.inflight == 1
        assert on.instance.service.qps_1m == pytest.approx(1 / 60)
        assert (await on.http.get("/load")).json() == {"server_load": 1}


def test_every_advertised_endpoint_is_one_of_the_published_names() -> None:
    assert set(ENDPOINTS) >= {"chat/completions", "completions"}
    assert {f"/v1/{name}" for name in ENDPOINTS if "token" not in name} <= set(GENERATING)


async def test_the_openai_client_is_content() -> None:
    openai = pytest.importorskip("openai")
    async with live() as on:
        http = httpx.AsyncClient(trust_env=False)
        base = f"http://127.0.0.1:{on.instance.port}/v1"
        async with openai.AsyncOpenAI(base_url=base, api_key="k", http_client=http) as client:
            assert [model.id async for model in client.models.list()] == ["tiny"]
            messages = chat_body("hi")["messages"]
            stream = await client.chat.completions.create(
                model="tiny", messages=messages, max_tokens=4, stream=True,
                stream_options={"include_usage": True},
            )  # fmt: skip
            chunks = [chunk async for chunk in stream]
            assert chunks[-1].usage.completion_tokens == 4
            with pytest.raises(openai.NotFoundError, match="`nope` does not exist"):
                await client.chat.completions.create(model="nope", messages=messages)


async def test_an_error_event_is_json() -> None:
    async with live() as on:
        await on.http.post("/demo/fault", json={"kind": "error_event", "after_tokens": 2})
        events = data_of((await on.post("/v1/chat/completions", chat_body("x", stream=True))).text)
    assert json.loads(events[-2])["error"]["type"] == "InternalServerError"
    assert events[-1] == "[DONE]"
