"""Which path means what, asked over a real connection."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from cacheroute.dataplane.inbound import Inbound
from cacheroute.dataplane.server import HttpServer
from cacheroute.planes.service import Cors, Route, ServicePlane, inference_routes
from tests.support.client import Answer, fetch

CARD = b'{"id":"org/m","object":"model"}'


@dataclass(slots=True, eq=False)
class Running:
    """A service plane that listens, and what it handed on."""

    port: int = 0
    ready: bool = True
    served: list[tuple[str, str]] = field(default_factory=list)

    def serve(self, inbound: Inbound, route: Route) -> None:
        self.served.append((inbound.method, route.endpoint))
        inbound.respond(200, [], b"served")

    async def ask(self, method: str, target: str, headers: dict[str, str] | None = None) -> Answer:
        body = b"{}" if method == "POST" else None
        return await fetch(self.port, method, target, (headers or {}).items(), body)


@contextlib.asynccontextmanager
async def plane(*origins: str) -> AsyncIterator[Running]:
    running = Running()
    served = ServicePlane(
        routes=inference_routes(("/v1/embeddings", "/tokenize", "/rerank")),
        serve=running.serve,
        list_models=lambda: b'{"object":"list"}',
        show_model=lambda name: CARD if name in ("org/m", "m") else None,
        is_ready=lambda: running.ready,
        cors=Cors(origins),
    )
    server = HttpServer(served.on_request)
    await server.start()
    running.port = server.port
    try:
        yield running
    finally:
        await server.stop()


# Inference


def test_the_table_has_both_paths_of_openai_and_the_configured_ones() -> None:
    table = inference_routes(("/v1/embeddings", "/tokenize", "/v1/completions"))
    assert {path: (r.endpoint, r.methods, r.opaque) for path, r in table.items()} == {
        "/v1/chat/completions": ("chat/completions", ("POST",), False),
        "/v1/completions": ("completions", ("POST",), False),
        "/v1/embeddings": ("embeddings", ("POST", "GET", "HEAD"), True),
        "/tokenize": ("tokenize", ("POST", "GET", "HEAD"), True),
    }


@pytest.mark.parametrize(
    ("method", "target", "endpoint"),
    [
        ("POST", "/v1/chat/completions", "chat/completions"),
        ("POST", "/v1/completions?x=1", "completions"),
        ("POST", "/v1/embeddings", "embeddings"),
        ("GET", "/tokenize", "tokenize"),
        ("HEAD", "/rerank", "rerank"),
        ("POST", "//v1//chat/completions", "chat/completions"),
        ("POST", "///v1/embeddings", "embeddings"),
    ],
)
async def test_inference_goes_to_the_pipeline(method: str, target: str, endpoint: str) -> None:
    async with plane() as running:
        assert (await running.ask(method, target)).status == 200
        assert running.served == [(method, endpoint)]


@pytest.mark.parametrize(
    ("method", "target", "allow"),
    [
        ("GET", "/v1/chat/completions", "POST, OPTIONS"),
        ("DELETE", "/v1/completions", "POST, OPTIONS"),
        ("PUT", "/v1/embeddings", "POST, GET, HEAD, OPTIONS"),
        ("POST", "/v1/models", "GET, HEAD, OPTIONS"),
        ("POST", "/health", "GET, HEAD, OPTIONS"),
        ("POST", "/v1/models/m", "GET, HEAD, OPTIONS"),
    ],
)
async def test_another_method_is_told_which_there_are(method: str, target: str, allow: str) -> None:
    async with plane() as running:
        got = await running.ask(method, target)
        assert (got.status, got.header("allow")) == (405, allow)
        assert got.error["code"] == "method_not_allowed"
        assert method in got.error["message"]
        assert not running.served


# Models and health


@pytest.mark.parametrize("target", ["/v1/models", "/v1/models/", "//v1/models"])
async def test_the_models_are_listed(target: str) -> None:
    async with plane() as running:
        got = await running.ask("GET", target)
        assert (got.status, got.body) == (200, b'{"object":"list"}')
        assert got.header("content-type") == "application/json"


@pytest.mark.parametrize("target", ["/v1/models/m", "/v1/models/org/m", "/v1/models/org%2Fm"])
async def test_one_model_is_shown_however_its_name_is_written(target: str) -> None:
    async with plane() as running:
        got = await running.ask("GET", target)
        assert (got.status, got.body) == (200, CARD)


async def test_a_model_that_is_not_there_is_told_by_its_name_cut_short() -> None:
    async with plane() as running:
        got = await running.ask("GET", "/v1/models/" + "x" * 3000)
        assert got.status == 404
        assert (got.error["code"], got.error["param"]) == ("model_not_found", "model")
        assert len(got.error["message"]) < 300


@pytest.mark.parametrize("path", ["/health", "/healthz"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_alive_is_alive_even_when_not_ready(path: str, method: str) -> None:
    async with plane() as running:
        running.ready = False
        got = await running.ask(method, path)
        assert (got.status, got.header("cache-control")) == (200, "no-store")
        assert got.body == (b'{"ok":true}' if method == "GET" else b"")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_ready_is_another_question(method: str) -> None:
    async with plane() as running:
        assert (await running.ask(method, "/ready")).status == 200
        running.ready = False
        assert (await running.ask(method, "/ready")).status == 503


# What is not there


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("/chat/completions", " Did you mean /v1/chat/completions?"),
        ("/embeddings", " Did you mean /v1/embeddings?"),
        ("/models", " Did you mean /v1/models?"),
        ("/v1/v1/chat/completions", " Did you mean /v1/chat/completions?"),
        ("/v1", ""),
        ("/", ""),
        ("/metrics", ""),
        ("/debug/status", ""),
        ("/v1/instance/register", ""),
    ],
)
async def test_what_is_not_there_is_told_with_what_may_have_been_meant(
    target: str, hint: str
) -> None:
    async with plane() as running:
        got = await running.ask("POST", target)
        assert got.status == 404
        assert got.error["message"] == f"There is nothing at {target}.{hint}"
        assert got.error["code"] == "not_found"


async def test_a_long_path_is_cut_short_in_the_answer() -> None:
    async with plane() as running:
        got = await running.ask("GET", "/" + "x" * 5000)
        assert got.status == 404
        assert len(got.body) < 500


# Pages of other origins


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/models", "/health", "/v1/models/m"])
async def test_by_default_no_page_may_use_it(path: str) -> None:
    async with plane() as running:
        got = await running.ask("OPTIONS", path, {"Origin": "https://a.example"})
        assert (got.status, got.body) == (204, b"")
        assert got.header("access-control-allow-origin") is None
        assert got.header("vary") is None


@pytest.mark.parametrize("origins", [("https://a.example",), ("*",)])
async def test_a_page_that_may_is_told_so(origins: tuple[str, ...]) -> None:
    async with plane(*origins) as running:
        asked = {"Origin": "https://a.example", "Access-Control-Request-Headers": "x-a, x-b"}
        got = await running.ask("OPTIONS", "/v1/chat/completions", asked)
        assert got.header("access-control-allow-origin") == "https://a.example"
        assert got.header("access-control-allow-headers") == "x-a, x-b"
        assert got.header("access-control-allow-methods") == "POST, OPTIONS"
        assert got.header("vary") == "Origin"
        assert got.header("access-control-allow-credentials") is None
        got = await running.ask("GET", "/v1/models", {"Origin": "https://a.example"})
        assert got.header("access-control-allow-origin") == "https://a.example"


async def test_another_page_is_given_nothing_but_caches_are_warned() -> None:
    async with plane("https://a.example") as running:
        got = await running.ask("OPTIONS", "/v1/models", {"Origin": "https://b.example"})
        assert got.header("access-control-allow-origin") is None
        assert got.header("vary") == "Origin"


async def test_options_of_the_server_itself_are_told() -> None:
    async with plane() as running:
        got = await running.ask("OPTIONS", "*")
        assert got.status == 204
        assert "POST" in (got.header("allow") or "")


async def test_every_refusal_is_openais_object() -> None:
    async with plane() as running:
        for method, target in [("GET", "/x"), ("GET", "/v1/completions"), ("GET", "/v1/models/x")]:
            got = await running.ask(method, target)
            assert set(json.loads(got.body)["error"]) == {"message", "type", "param", "code"}
