"""The HTTP face of the demo Instance: which path does what.

Requests that generate become an `Exchange`; all others are answered in the same turn.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping

import msgspec

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo import tokens
from cacheroute.demo.body import read_body
from cacheroute.demo.exchange import Exchange
from cacheroute.demo.fault_desk import FaultDesk
from cacheroute.demo.kv_loads import KvLoads
from cacheroute.demo.metrics import CONTENT_TYPE, VllmMetrics
from cacheroute.demo.pace import Pacer
from cacheroute.demo.params import Body, ServedModel, check_model
from cacheroute.demo.rate import MinuteRate
from cacheroute.demo.refusal import JSON_HEADERS, Refusal, bad_value, missing, overloaded
from cacheroute.demo.reply import Reply
from cacheroute.demo.shapes.chat import ChatShape, chat_prompt, read_chat
from cacheroute.demo.shapes.completions import (
    CompletionsShape,
    prompt_streams,
    read_completions,
)
from cacheroute.demo.shapes.messages import MessagesShape, messages_prompt, read_messages
from cacheroute.demo.shapes.pooling import (
    EmbeddingsShape,
    RerankShape,
    read_embeddings,
    read_rerank,
)
from cacheroute.demo.shapes.responses import ResponsesShape, read_responses
from cacheroute.demo.shapes.shape import DrawShape, ReadAsk

VERSION = "0.32.0+cacheroute.demo"

GENERATING: Mapping[str, tuple[ReadAsk, DrawShape, str]] = {
    "/v1/chat/completions": (read_chat, ChatShape, "chatcmpl-"),
    "/v1/completions": (read_completions, CompletionsShape, "cmpl-"),
    "/v1/messages": (read_messages, MessagesShape, "chatcmpl-"),
    "/v1/responses": (read_responses, ResponsesShape, "resp_"),
    "/v1/embeddings": (read_embeddings, EmbeddingsShape, "embd-"),
    "/v1/rerank": (read_rerank, RerankShape, "rerank-"),
    "/v2/rerank": (read_rerank, RerankShape, "rerank-"),
    "/rerank": (read_rerank, RerankShape, "rerank-"),
}
"""Paths that go through the engine: how to read them, how to draw them, how ids begin."""

ENDPOINTS = (
    "chat/completions", "completions", "messages", "responses", "embeddings", "rerank",
    "tokenize", "detokenize",
)  # fmt: skip
"""What a registration says this Instance serves."""

Route = Callable[[Inbound], None]

_ID_MAX_CHARS = 256


class Service:
    """Answers requests with one engine."""

    def __init__(
        self,
        *,
        model: ServedModel,
        pacer: Pacer,
        metrics: VllmMetrics,
        desk: FaultDesk,
        max_queued: int | None = None,
        outside: KvLoads | None = None,
        control: Mapping[str, Mapping[str, Route]] | None = None,
    ) -> None:
        self._model = model
        self._pacer = pacer
        self._metrics = metrics
        self._desk = desk
        self._max_queued = max_queued
        self._outside = outside
        self._loop = asyncio.get_running_loop()
        self._rate = MinuteRate()
        self._exchanges: set[Exchange] = set()
        self._sequences = 0
        self._routes = {**self._build_routes(), **(control or {})}

    @property
    def inflight(self) -> int:
        """Requests that are being answered."""
        return len(self._exchanges)

    @property
    def qps_1m(self) -> float:
        """Requests per second to the engine, over the last minute."""
        return self._rate.per_second(self._loop.time())

    def on_request(self, inbound: Inbound) -> None:
        """Answer one request, now or as the engine goes on."""
        methods = self._routes.get(inbound.path)
        if methods is None:
            inbound.respond(404, JSON_HEADERS, b'{"detail":"Not Found"}')
            return
        route = methods.get(inbound.method)
        if route is None:
            allow = (b"allow", ", ".join(methods).encode())
            inbound.respond(405, (allow, *JSON_HEADERS), b'{"detail":"Method Not Allowed"}')
            return
        try:
            route(inbound)
        except Refusal as refusal:
            inbound.respond(refusal.status, refusal.headers, refusal.body)

    def _build_routes(self) -> dict[str, Mapping[str, Route]]:
        desk = self._desk
        routes: dict[str, Mapping[str, Route]] = {
            "/health": {"GET": _empty},
            "/ping": {"GET": _empty, "POST": _empty},
            "/version": {"GET": lambda inbound: _json(inbound, {"version": VERSION})},
            "/load": {"GET": lambda inbound: _json(inbound, {"server_load": self.inflight})},
            "/metrics": {"GET": self._on_metrics},
            "/v1/models": {"GET": self._on_models},
            "/tokenize": {"POST": self._on_tokenize},
            "/detokenize": {"POST": self._on_detokenize},
            "/v1/messages/count_tokens": {"POST": self._on_count_tokens},
            "/demo/fault": {"GET": desk.on_get, "POST": desk.on_post, "DELETE": desk.on_delete},
        }
        for path, (read, draw, prefix) in GENERATING.items():
            routes[path] = {"POST": self._generates(read, draw, prefix)}
        return routes

    def _generates(self, read: ReadAsk, draw: DrawShape, prefix: str) -> Route:
        def route(inbound: Inbound) -> None:
            self._rate.add(self._loop.time())
            ask = read(read_body(inbound), self._model)
            fault = self._desk.strike()
            if fault is not None and fault.kind == "error":
                raise Refusal(
                    fault.status,
                    f"This error was asked for at /demo/fault: status {fault.status}.",
                    kind="InternalServerError" if fault.status >= 500 else "BadRequestError",
                    retry_after_s=fault.retry_after_s,
                )
            if self._max_queued is not None and self._pacer.engine.waiting >= self._max_queued:
                self._metrics.on_rejected()
                raise overloaded()
            self._metrics.on_asked(choices=ask.params.choices, max_tokens=ask.params.max_tokens)
            reply = Reply(
                ask,
                reply_id=prefix + _request_id(inbound),
                model=self._model.name,
                created_at_s=int(time.time()),
            )
            exchange = Exchange(
                inbound, reply, draw(reply), pacer=self._pacer, observer=self._metrics,
                fault=fault, on_end=self._exchanges.discard, outside=self._outside,
            )  # fmt: skip
            self._exchanges.add(exchange)
            exchange.begin(self._next_sequence)

        return route

    def _next_sequence(self) -> str:
        self._sequences += 1
        return str(self._sequences)

    def _on_metrics(self, inbound: Inbound) -> None:
        inbound.respond(200, ((b"content-type", CONTENT_TYPE),), self._metrics.render())

    def _on_models(self, inbound: Inbound) -> None:
        model = self._model
        permission = {
            "id": "modelperm-demo",
            "object": "model_permission",
            "created": model.created_at_s,
            "allow_create_engine": False,
            "allow_sampling": True,
            "allow_logprobs": True,
            "allow_search_indices": False,
            "allow_view": True,
            "allow_fine_tuning": False,
            "organization": "*",
            "group": None,
            "is_blocking": False,
        }
        card = {
            "id": model.name,
            "object": "model",
            "created": model.created_at_s,
            "owned_by": "vllm",
            "root": model.name,
            "parent": None,
            "max_model_len": model.max_model_tokens,
            "permission": [permission],
        }
        _json(inbound, {"object": "list", "data": [card]})

    def _on_tokenize(self, inbound: Inbound) -> None:
        body = read_body(inbound)
        check_model(body, self._model)
        stream = chat_prompt(body) if "messages" in body else _only_prompt(body)
        ids = tokens.ids(stream)
        shown = None
        if body.get("return_token_strs") is True:
            shown = [tokens.decode(tokens.stream_of([one])) for one in ids]
        _json(
            inbound,
            {
                "count": len(ids),
                "max_model_len": self._model.max_model_tokens,
                "tokens": ids,
                "token_strs": shown,
            },
        )

    def _on_detokenize(self, inbound: Inbound) -> None:
        body = read_body(inbound)
        check_model(body, self._model)
        ids = body.get("tokens")
        if not isinstance(ids, list):
            raise missing("tokens", body)
        try:
            stream = tokens.stream_of(ids)
        except ValueError as error:
            raise bad_value("tokens", "<list>", str(error)) from None
        _json(inbound, {"prompt": tokens.decode(stream)})

    def _on_count_tokens(self, inbound: Inbound) -> None:
        body = read_body(inbound)
        check_model(body, self._model)
        _json(inbound, {"input_tokens": tokens.count(messages_prompt(body))})


def _only_prompt(body: Body) -> bytes:
    if body.get("prompt") == "":
        return b""
    return prompt_streams(body, "prompt")[0]


def _request_id(inbound: Inbound) -> str:
    given = inbound.header(b"x-request-id")
    return given.decode("latin-1")[:_ID_MAX_CHARS] if given else secrets.token_hex(8)


def _empty(inbound: Inbound) -> None:
    inbound.respond(200)


def _json(inbound: Inbound, value: object) -> None:
    inbound.respond(200, JSON_HEADERS, msgspec.json.encode(value))
