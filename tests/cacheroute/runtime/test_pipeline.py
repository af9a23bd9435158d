"""A request, room by room, through a whole Proxy."""

import asyncio
import json
import logging
import re
from typing import Any

import pytest

from cacheroute.runtime.deciding import Decider
from cacheroute.upstream.instance import Instances
from tests.support.backend import scripted
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, COMPLETIONS, DONE, MODEL, chat, completion, token
from tests.support.proxy import running_proxy
from tests.support.script import END, Gate, chunk, json_answer, stream, stream_head
from tests.support.waiting import eventually_is

PATHS = [
    (CHAT, chat()),
    (COMPLETIONS, json.dumps({"model": MODEL, "prompt": "x"}).encode()),
    ("/v1/embeddings", json.dumps({"model": MODEL, "input": "x"}).encode()),
    ("/tokenize", b"not even JSON"),
]


@pytest.mark.parametrize(("path", "body"), PATHS, ids=[path for path, _ in PATHS])
async def test_a_request_goes_to_an_instance_as_it_came_and_is_told_who_served_it(
    path: str, body: bytes
) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, body, f"{path}?a=b")
        assert (got.status, got.json()) == (200, completion())
        assert got.header("x-cacheroute-instance") == backend.instance_id
        (received,) = backend.requests
        assert (received.target, received.body) == (f"{path}?a=b", body)
        await proxy.idle()


async def test_a_get_on_a_path_that_is_passed_through_is_a_get() -> None:
    async with scripted(json_answer({"a": 1})) as backend, running_proxy(backend.url) as proxy:
        got = await fetch(proxy.service_port, "GET", "/v1/responses?x=1")
        assert got.json() == {"a": 1}
        assert backend.requests[0].method == "GET"


# Room 0: whose mistake it is


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"[]", "invalid_request_payload"),
        (b'{"model":7}', "invalid_request_payload"),
        (b'{"model":"m","messages":{}}', "invalid_request_payload"),
    ],
)
async def test_a_body_that_cannot_be_understood_reaches_nobody(body: bytes, code: str) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, body)
        assert (got.status, got.error["code"]) == (400, code)
        assert not backend.requests
        assert await proxy.unhappy_ends() == {"bad_request": 1.0}


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"model":"m","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"model":"\\ud800","messages":[]}',
        b'{"model":"' + b"m" * 3_000_000 + b'","messages":[]}',
        b'{"Request_ID":1,"Prompt":{"model":"m","user_prompt":"x"},"n":' + b"9" * 5000 + b"}",
    ],
    ids=["deep model", "deep rest", "half a letter", "endless name", "endless number"],
)
async def test_a_body_that_is_meant_to_hurt_is_refused_and_hurts_nobody(
    body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await post(proxy.service_port, body)
        assert got.status == 400
        assert len(got.body) < 1000
        assert not [r for r in caplog.records if r.levelno >= logging.ERROR]
        assert (await post(proxy.service_port, chat())).status == 200
        await proxy.idle()


async def test_what_is_refused_at_the_door_is_a_request_as_well() -> None:
    """Or a page could show more errors than requests."""
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, b"{")
        await post(proxy.service_port, b'{"Request_ID":1,"Prompt":"x"}')
        proxy.app.proxy.draining = True
        await post(proxy.service_port, chat())
        assert await proxy.unhappy_ends() == {"bad_request": 2.0, "draining": 1.0}
        assert (await proxy.samples("requests", "backend"))[""] == 3.0


# Ids


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_good_id_of_the_caller_goes_all_the_way(streamed: bool) -> None:
    reply = stream(token("x"), DONE) if streamed else json_answer(completion())
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        got = await post(
            proxy.service_port, chat(stream=streamed), headers=[("X-Request-Id", "abc-1")]
        )
        assert got.header("x-request-id") == "abc-1"
        assert backend.requests[0].head.one("x-request-id") == b"abc-1"


@pytest.mark.parametrize("given", [None, "a b", "x" * 200])
async def test_otherwise_one_is_made_and_told(given: str | None) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        headers = [] if given is None else [("X-Request-Id", given)]
        got = await post(proxy.service_port, chat(), headers=headers)
        made = got.header("x-request-id") or ""
        assert re.fullmatch(r"req-[0-9a-f]{12}-[0-9a-f]+", made)
        assert backend.requests[0].head.one("x-request-id") == made.encode()


async def test_answers_of_ours_tell_the_id_as_well() -> None:
    async with running_proxy() as proxy:
        got = await post(proxy.service_port, chat(), headers=[("X-Request-Id", "abc-1")])
        assert (got.status, got.header("x-request-id")) == (503, "abc-1")


# Room 2: nobody to place it on


async def test_an_empty_pool_is_a_503_with_a_hint() -> None:
    async with running_proxy() as proxy:
        got = await post(proxy.service_port, chat())
        assert (got.status, got.header("retry-after")) == (503, "1")
        assert got.error["code"] == "no_instance"
        assert got.error["message"] == "No Instance is registered."


async def test_a_model_that_nobody_serves_is_a_404_about_the_model() -> None:
    async with running_proxy() as proxy:
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=9, meta={"model": "other"})
        got = await post(proxy.service_port, chat())
        assert got.status == 404
        assert (got.error["code"], got.error["param"]) == ("model_not_found", "model")
        assert "1 other models (i-1)" in got.error["message"]
        assert got.header("retry-after") is None


async def test_when_all_are_at_their_caps_it_is_a_503_with_a_hint() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(DONE), END)
    capped = [{"name": "a", "url": "", "max_concurrent": 1}]
    async with scripted(reply) as backend:
        capped[0]["url"] = backend.url
        async with running_proxy(backends=capped) as proxy, connected(proxy.service_port) as one:
            one.ask("POST", CHAT, body=chat(stream=True))
            await one.body_of(1)
            got = await post(proxy.service_port, chat())
            assert (got.status, got.header("retry-after")) == (503, "1")
            assert got.error["code"] == "all_overloaded"
            assert "a 1 of 1" in got.error["message"]
            gate.open()
            await one.over()
            await proxy.idle()


async def test_where_it_is_set_so_a_request_waits_for_a_place() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(DONE), END)
    capped = [{"name": "a", "url": "", "max_concurrent": 1}]
    async with scripted(reply) as backend:
        capped[0]["url"] = backend.url
        async with (
            running_proxy(backends=capped, queues__wait_at_cap=True) as proxy,
            connected(proxy.service_port) as one,
            connected(proxy.service_port) as two,
        ):
            one.ask("POST", CHAT, body=chat(stream=True))
            await one.body_of(1)
            two.ask("POST", CHAT, body=chat(stream=True))
            await eventually_is(proxy.inflight, lambda load: load == {"a": 2})
            assert len(backend.requests) == 1
            (row,) = await proxy.loads()
            assert (row["active_ready"], row["ready_queue_depth"]) == (1, 1)
            gate.open()
            for client in (one, two):
                assert (await client.over()).body == token("a") + DONE
            await proxy.idle()


async def test_when_too_many_wait_already_it_is_a_429_with_a_hint() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(DONE), END)
    capped = [{"name": "a", "url": "", "max_concurrent": 1}]
    async with scripted(reply) as backend:
        capped[0]["url"] = backend.url
        async with (
            running_proxy(backends=capped, queues__max_queue=1, queues__wait_at_cap=True) as proxy,
            connected(proxy.service_port) as one,
            connected(proxy.service_port) as two,
        ):
            one.ask("POST", CHAT, body=chat(stream=True))
            await one.body_of(1)
            two.ask("POST", CHAT, body=chat(stream=True))
            await eventually_is(proxy.inflight, lambda load: load == {"a": 2})
            got = await post(proxy.service_port, chat())
            assert (got.status, got.header("retry-after")) == (429, "1")
            assert got.error["code"] == "queue_full"
            assert "1 requests wait to be sent at a" in got.error["message"]
            gate.open()
            await one.over()
            await two.over()
            await proxy.idle()


async def test_one_that_leaves_while_it_waits_frees_its_place_at_once() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(DONE), END)
    capped = [{"name": "a", "url": "", "max_concurrent": 1}]
    async with scripted(reply) as backend:
        capped[0]["url"] = backend.url
        async with (
            running_proxy(backends=capped, queues__wait_at_cap=True) as proxy,
            connected(proxy.service_port) as one,
        ):
            one.ask("POST", CHAT, body=chat(stream=True))
            await one.body_of(1)
            async with connected(proxy.service_port) as two:
                two.ask("POST", CHAT, body=chat(stream=True))
                await eventually_is(proxy.inflight, lambda load: load == {"a": 2})
                two.reset()
            await eventually_is(proxy.inflight, lambda load: load == {"a": 1})
            (row,) = await proxy.loads()
            assert (row["active_ready"], row["ready_queue_depth"]) == (1, 0)
            gate.open()
            await one.over()
            await proxy.idle()
            assert len(backend.requests) == 1


# Draining


async def test_a_proxy_that_drains_takes_no_new_work_and_lets_running_answers_end() -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(token("b") + DONE), END)
    async with (
        scripted(reply) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as running,
    ):
        running.ask("POST", CHAT, body=chat(stream=True))
        await running.body_of(1)
        proxy.app.proxy.draining = True
        got = await post(proxy.service_port, chat())
        assert (got.status, got.header("retry-after")) == (503, "5")
        assert got.error["code"] == "draining"
        assert (await fetch(proxy.service_port, "GET", "/ready")).status == 503
        assert (await fetch(proxy.service_port, "GET", "/health")).status == 200
        gate.open()
        assert (await running.over()).body == token("a") + token("b") + DONE
        assert len(backend.requests) == 1


# Room 8: nothing is left behind


async def test_a_body_that_is_no_json_leaves_nothing_behind_at_an_override() -> None:
    async with (
        scripted(json_answer({"tokens": []})) as backend,
        running_proxy(backends=[{"name": "a", "url": backend.url, "model_name": "real"}]) as proxy,
    ):
        got = await post(proxy.service_port, b'{"model"} is no JSON', "/v1/embeddings")
        await proxy.idle()
        assert got.status == 200
        assert backend.requests[0].body == b'{"model"} is no JSON'
        body = json.dumps({"model": MODEL}).encode()
        assert (await post(proxy.service_port, body, "/v1/embeddings")).status == 200
        assert backend.requests[1].json() == {"model": "real"}


@pytest.mark.parametrize(("owner", "room"), [(Instances, "forward"), (Decider, "expect_plain")])
async def test_a_mistake_of_our_own_is_a_500_and_leaves_nothing_behind(
    owner: type, room: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    prompt = {"model": MODEL, "user_prompt": "x"}
    asked = json.dumps({"Request_ID": 1, "Prompt": prompt}).encode()
    async with (
        scripted(json_answer({}, 500)) as backend,
        running_proxy(
            backend.url, pool__ejection__failures=1, pool__ejection__cool_down_s=0.02
        ) as proxy,
    ):
        await post(proxy.service_port, chat())  # and so it rests, and is then on trial
        backend.reply = json_answer(completion())
        await asyncio.sleep(0.03)

        def mistake(*args: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(owner, room, mistake)
        got = await post(proxy.service_port, asked)
        assert (got.status, got.error["code"]) == (500, "internal_error")
        monkeypatch.undo()
        assert any("request.crashed" in record.getMessage() for record in caplog.records)
        await proxy.idle()
        assert (await post(proxy.service_port, chat())).status == 200
        (row,) = await proxy.loads()
        assert row["inflight"] == 0


async def test_an_answer_that_is_too_deep_to_read_is_passed_on_all_the_same() -> None:
    deep = b"[" * 5000 + b"]" * 5000
    body = b'{"usage":' + deep + b"}"
    reply = (stream_head(content_type="application/json"), chunk(body), END)
    async with scripted(reply) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat())
            assert (await client.over(within_s=2)).body == body
        backend.reply = stream(b"data: " + deep + b"\n\n", DONE)
        async with connected(proxy.service_port) as client:
            client.ask("POST", CHAT, body=chat(stream=True))
            assert (await client.over(within_s=2)).body == b"data: " + deep + b"\n\n" + DONE
        await proxy.idle()


async def test_counts_that_cannot_be_true_do_not_break_the_metrics_page() -> None:
    usage = {"prompt_tokens": 10**400, "completion_tokens": -5}
    async with (
        scripted(json_answer({"usage": usage})) as backend,
        running_proxy(backend.url) as proxy,
    ):
        assert (await post(proxy.service_port, chat())).status == 200
        kinds = await proxy.samples("tokens", "kind")
        assert kinds == {"prompt": 0.0, "completion": 0.0, "cached": 0.0}


@pytest.mark.parametrize("strategy", ["round_robin", "least_load"])
async def test_an_instance_can_be_taken_out_by_its_weight_while_requests_run(strategy: str) -> None:
    gate = Gate()
    reply = (stream_head(), chunk(token("a")), gate, chunk(DONE), END)
    async with (
        scripted(reply) as backend,
        running_proxy(strategy=strategy) as proxy,
        connected(proxy.service_port) as client,
    ):
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=backend.port)
        client.ask("POST", CHAT, body=chat(stream=True))
        await client.body_of(1)
        await proxy.register(instance_id="i-1", host="127.0.0.1", port=backend.port, weight=0)
        gate.open()
        got = await client.over()
        assert got.whole
        assert got.body == token("a") + DONE
        await proxy.idle()
