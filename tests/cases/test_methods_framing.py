"""C088, C089: preflights and HEAD are answered, and never wait for a body that will not come."""

import pytest

from tests.support.backend import scripted
from tests.support.client import connected, fetch, post
from tests.support.openai_shapes import CHAT, DONE, chat, completion, token
from tests.support.proxy import running_proxy
from tests.support.script import (
    END,
    JSON,
    Write,
    answer,
    chunk,
    head,
    json_answer,
    stream,
    stream_head,
)

ORIGIN = "https://app.example"
PREFLIGHT = [
    ("Origin", ORIGIN),
    ("Access-Control-Request-Method", "POST"),
    ("Access-Control-Request-Headers", "authorization, content-type, x-stainless-os"),
]
PATHS = [CHAT, "/v1/completions", "/v1/embeddings", "/v1/models"]


@pytest.mark.parametrize("path", PATHS)
async def test_c088_by_default_a_preflight_has_one_plain_answer(path: str) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await fetch(proxy.service_port, "OPTIONS", path, PREFLIGHT)
        assert got.status < 500
        assert got.header("access-control-allow-origin") is None
        assert not backend.requests
        again = await post(proxy.service_port, chat(), headers=PREFLIGHT[:1])
        assert again.header("access-control-allow-origin") is None


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("allowed", [[ORIGIN], ["*"], ["https://other.example", ORIGIN]], ids=str)
async def test_c088_an_allowed_origin_gets_its_preflight_without_a_key(
    allowed: list[str], path: str
) -> None:
    async with (
        scripted() as backend,
        running_proxy(backend.url, proxy__cors_origins=allowed) as proxy,
    ):
        got = await fetch(proxy.service_port, "OPTIONS", path, PREFLIGHT)
        assert got.status == 204
        assert got.body == b""
        assert got.header("access-control-allow-origin") in (ORIGIN, "*")
        method = "GET" if path == "/v1/models" else "POST"
        assert method in (got.header("access-control-allow-methods") or "")
        echoed = (got.header("access-control-allow-headers") or "").lower()
        for name in ("authorization", "content-type", "x-stainless-os"):
            assert name in echoed
        if got.header("access-control-allow-origin") == ORIGIN:
            assert "origin" in (got.header("vary") or "").lower()
        assert not backend.requests


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "JSON"])
async def test_c088_the_answer_itself_carries_the_origin(streamed: bool) -> None:
    script = stream(token("a"), DONE) if streamed else json_answer(completion())
    async with (
        scripted(script) as backend,
        running_proxy(backend.url, proxy__cors_origins=[ORIGIN]) as proxy,
    ):
        got = await post(proxy.service_port, chat(stream=streamed), headers=[("Origin", ORIGIN)])
        assert got.header("access-control-allow-origin") == ORIGIN
        assert "origin" in (got.header("vary") or "").lower()


async def test_c088_errors_are_readable_by_an_allowed_page_as_well() -> None:
    async with running_proxy(proxy__cors_origins=[ORIGIN]) as proxy:
        got = await post(proxy.service_port, chat(), headers=[("Origin", ORIGIN)])
        assert got.status == 503
        assert got.header("access-control-allow-origin") == ORIGIN


async def test_c088_what_the_backend_says_of_origins_is_not_doubled() -> None:
    theirs = [("Access-Control-Allow-Origin", "*"), ("Vary", "Accept")]
    async with (
        scripted(json_answer(completion(), headers=theirs)) as backend,
        running_proxy(backend.url, proxy__cors_origins=[ORIGIN]) as proxy,
    ):
        got = await post(proxy.service_port, chat(), headers=[("Origin", ORIGIN)])
        assert got.header("access-control-allow-origin") in (ORIGIN, "*")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://app.example.evil"])
async def test_c088_other_origins_are_given_nothing(origin: str) -> None:
    async with (
        scripted() as backend,
        running_proxy(backend.url, proxy__cors_origins=[ORIGIN]) as proxy,
    ):
        sent = [("Origin", origin), *PREFLIGHT[1:]]
        got = await fetch(proxy.service_port, "OPTIONS", CHAT, sent)
        assert got.status < 500
        assert got.header("access-control-allow-origin") is None
        answered = await post(proxy.service_port, chat(), headers=sent[:1])
        assert answered.header("access-control-allow-origin") is None


@pytest.mark.parametrize("path", ["/v1/instance/register", "/v1/instance/list", "/debug/status"])
async def test_c088_the_control_plane_opens_to_no_page(path: str) -> None:
    async with running_proxy(proxy__cors_origins=["*"]) as proxy:
        got = await fetch(proxy.control_port, "OPTIONS", path, PREFLIGHT)
        assert got.status < 500
        assert got.header("access-control-allow-origin") is None
        asked = await fetch(proxy.control_port, "GET", "/debug/status", PREFLIGHT[:1])
        assert asked.header("access-control-allow-origin") is None


def shape(got_headers: tuple[tuple[bytes, bytes], ...]) -> dict[bytes, bytes]:
    """Return headers without those that differ from one answer to the next."""
    varying = {b"date", b"x-request-id"}
    return {key.lower(): value for key, value in got_headers if key.lower() not in varying}


@pytest.mark.parametrize("path", ["/health", "/healthz", "/ready"])
@pytest.mark.parametrize("port", ["service_port", "control_port"])
@pytest.mark.parametrize("alive", [True, False], ids=["with an Instance", "without"])
async def test_c089_head_of_health_is_get_without_its_body(
    path: str, port: str, alive: bool
) -> None:
    async with scripted() as backend, running_proxy(*([backend.url] if alive else [])) as proxy:
        at = getattr(proxy, port)
        by_get = await fetch(at, "GET", path)
        by_head = await fetch(at, "HEAD", path)
        assert by_head.body == b""
        assert by_head.status == by_get.status
        if path == "/healthz":
            assert by_head.status == 200
        if path == "/ready":
            assert by_head.status == (200 if alive else 503)
        assert by_head.head is not None
        assert by_get.head is not None
        assert shape(by_head.head.headers).keys() == shape(by_get.head.headers).keys()


async def test_c089_head_of_the_model_list_has_gets_headers_and_no_body() -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("HEAD", "/v1/models")
            by_head = await client.over()
            assert by_head.status == 200
            # A body that came all the same would be read as the next answer.
            client.ask("GET", "/v1/models")
            by_get = await client.over()
        assert by_get.json()["object"] == "list"
        assert by_head.header("content-length") == str(len(by_get.body))
        assert by_head.header("content-type") == by_get.header("content-type")


HEAD_ANSWERS = {
    "chunked framing": (stream_head(content_type=JSON),),
    "a length": (Write(head(200, [("Content-Type", JSON), ("Content-Length", "500")])),),
    "no framing": (Write(head(200, [("Content-Type", JSON)])),),
    "an error": (Write(head(404, [("Content-Length", "9")])),),
}  # fmt: skip


@pytest.mark.parametrize("script", HEAD_ANSWERS.values(), ids=HEAD_ANSWERS)
async def test_c089_a_head_that_is_passed_on_waits_for_no_body(
    script: tuple[Write, ...],
) -> None:
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            client.ask("HEAD", "/v1/embeddings")
            got = await client.over(within_s=2)
            if got.status == 405:
                assert got.header("allow")
                return
            assert got.body == b""
            assert got.status == backend_status(script)
            backend.reply = json_answer(completion())
            client.ask("POST", "/v1/embeddings", body=chat(input="x"))
            assert (await client.over(within_s=2)).json() == completion()
        await proxy.idle()


def backend_status(script: tuple[Write, ...]) -> int:
    """Return the status in a script's head."""
    return int(script[0].data.split(b" ")[1])


@pytest.mark.parametrize("status", [204, 304])
async def test_c089_an_answer_that_has_no_body_ends_at_once(status: int) -> None:
    async with scripted((Write(head(status)),)) as backend, running_proxy(backend.url) as proxy:
        async with connected(proxy.service_port) as client:
            for _ in range(3):
                client.ask("POST", CHAT, body=chat())
                got = await client.over(within_s=2)
                assert (got.status, got.body) == (status, b"")
                assert got.header("transfer-encoding") is None
        await proxy.idle()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", CHAT, 405),
        ("PUT", CHAT, 405),
        ("DELETE", "/v1/models", 405),
        ("POST", "/v1/models", 405),
        ("POST", "/health", 405),
        ("GET", "/", 404),
        ("POST", "/v1/nothing", 404),
        ("GET", "/v1/instance/list", 404),
        ("POST", "/v1/instance/register", 404),
        ("GET", "/debug/instance_loads", 404),
        ("BREW", CHAT, 405),
    ],
)
async def test_c089_other_methods_and_paths_are_told_in_openais_form(
    method: str, path: str, status: int
) -> None:
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        got = await fetch(
            proxy.service_port, method, path, body=b"{}" if method == "POST" else None
        )
        if method == "BREW":
            assert got.status in (400, 405, 501)
            return
        assert got.status == status
        assert path in got.error["message"]
        if status == 405:
            assert got.header("allow")
        assert not backend.requests


async def test_c089_an_http_10_client_gets_an_answer_without_chunks() -> None:
    body = chat(stream=True)
    async with (
        scripted((stream_head(), chunk(token("a")), chunk(DONE), END)) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.expect("POST")
        client.send(
            b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%b"
            % (len(body), body)
        )
        got = await client.disconnected()
        assert got.framing == "eof"
        assert got.body == token("a") + DONE


async def test_c089_pipelined_requests_are_answered_in_order() -> None:
    bodies = [chat(f"{n}") for n in range(3)]
    async with scripted() as backend, running_proxy(backend.url) as proxy:
        backend.reply = lambda received: answer(received.body)
        async with connected(proxy.service_port) as client:
            client.expect("POST")
            client.send(
                b"".join(
                    b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%b"
                    % (len(body), body)
                    for body in bodies
                )
            )
            for body in bodies:
                assert (await client.over()).body == body
                client.expect("POST")
