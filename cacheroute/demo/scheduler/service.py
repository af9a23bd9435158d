"""The service plane of the Scheduler: OpenAI requests in, Requests to Proxies out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from cacheroute.core.errors import CacheRouteError
from cacheroute.demo.scheduler.answering import allowing, respond, respond_error
from cacheroute.demo.scheduler.ask import CHAT, COMPLETION, Endpoint, read_ask
from cacheroute.demo.scheduler.relay import NoProxy, Relay
from cacheroute.demo.scheduler.request import render_request, request_ids
from cacheroute.demo.scheduler.trace import trace_headers
from cacheroute.wire import paths
from cacheroute.wire.problem import openai_error

if TYPE_CHECKING:
    from cacheroute.core.clock import Instant
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.dataplane.outbound import Outbound
    from cacheroute.dataplane.pool import UpstreamPool
    from cacheroute.demo.scheduler.chance import Chance
    from cacheroute.demo.scheduler.knowledge import Library
    from cacheroute.demo.scheduler.options import SchedulerOptions
    from cacheroute.demo.scheduler.proxies import Proxies, ProxyRecord

Route = Callable[["Inbound"], None]

_NOBODY_RETRY_S = 1.0
MAX_MODELS = 256


class Service:
    """Answers clients."""

    def __init__(
        self,
        options: SchedulerOptions,
        *,
        proxies: Proxies,
        library: Library,
        pool: UpstreamPool,
        now: Callable[[], Instant],
        chance: Chance,
    ) -> None:
        self._options = options
        self._proxies = proxies
        self._library = library
        self._pool = pool
        self._now = now
        self._chance = chance
        self._ids = request_ids()
        self._routes: Mapping[str, Mapping[str, Route]] = {
            paths.CHAT_COMPLETIONS: {"POST": partial(self._forward, endpoint=CHAT)},
            paths.COMPLETIONS: {"POST": partial(self._forward, endpoint=COMPLETION)},
            paths.MODELS: {"GET": self._models},
            paths.HEALTH: {"GET": _alive},
            paths.HEALTHZ: {"GET": _alive},
            paths.READY: {"GET": self._ready},
        }

    def on_request(self, inbound: Inbound) -> None:
        """Answer one request, now or as the Proxy does."""
        methods = self._routes.get(inbound.path)
        if methods is None:
            message = f"There is nothing at {inbound.path[:200]}."
            respond(inbound, openai_error(message, status=404, code="not_found"), 404)
            return
        route = methods.get("GET" if inbound.method == "HEAD" else inbound.method)
        if route is None:
            message = f"{inbound.path} takes {', '.join(methods)}, not {inbound.method}."
            error = openai_error(message, status=405, code="method_not_allowed")
            respond(inbound, error, 405, [allowing(methods)])
            return
        try:
            route(inbound)
        except CacheRouteError as error:
            respond_error(inbound, error)

    # For the relays

    def choose(self, endpoint: str, excluded: set[str]) -> ProxyRecord:
        """Return the Proxy whose turn it is; raises NoProxy."""
        now = self._now()
        proxy = self._proxies.next(endpoint, now, excluded)
        if proxy is None:
            raise NoProxy(self._proxies.why_none(endpoint, now), retry_after_s=_NOBODY_RETRY_S)
        return proxy

    def send(self, proxy: ProxyRecord, outbound: Outbound) -> None:
        """Send a request to a Proxy."""
        self._pool.peer(proxy.address.host, proxy.address.port).send(outbound)

    # The routes

    def _forward(self, inbound: Inbound, endpoint: Endpoint) -> None:
        ask = read_ask(inbound.body, endpoint)
        found = self._library.find(ask)
        request_id = next(self._ids)
        lines = trace_headers(
            request_id,
            wall_s=self._now().wall_s,
            profile=self._options.runtime_profile,
            sampled=self._chance.happens(self._options.trace_sample_rate),
            random_bytes=self._chance.bytes,
        )
        Relay(
            inbound,
            endpoint,
            self,
            lines=lines,
            render=lambda proxy: render_request(request_id, ask, found, proxy),
        ).begin()

    def _models(self, inbound: Inbound) -> None:
        names = dict.fromkeys(self._options.models)
        for proxy in self._proxies.alive(self._now()):
            names.update(dict.fromkeys(_models_in(proxy.meta)))
        cards = [
            {"id": name, "object": "model", "created": 0, "owned_by": "cacheroute"}
            for name in list(names)[:MAX_MODELS]
        ]
        respond(inbound, {"object": "list", "data": cards})

    def _ready(self, inbound: Inbound) -> None:
        ok = bool(self._proxies.alive(self._now()))
        respond(inbound, {"ok": ok}, 200 if ok else 503)


def _models_in(meta: Mapping[str, object]) -> list[str]:
    listed = meta.get("models")
    models = [meta.get("model"), *(listed if isinstance(listed, list) else [])]
    return [model for model in models if isinstance(model, str) and model]


def _alive(inbound: Inbound) -> None:
    respond(inbound, {"ok": True})
