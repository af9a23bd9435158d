"""The service plane: which path means what, and the answers that need no Instance.

Inference paths go to the pipeline. Everything else that is known here is answered here;
nothing on this port changes the Proxy or tells who is in its pool.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cacheroute.dataplane.inbound import Inbound
from cacheroute.planes.problems import error_object

_JSON = (b"Content-Type", b"application/json")
_SLASHES = re.compile("/{2,}")
_ALWAYS = ("/v1/chat/completions", "/v1/completions")
_HEALTH = ("/health", "/healthz", "/ready")
_MODELS = "/v1/models"


@dataclass(frozen=True, slots=True)
class Route:
    """One inference path."""

    path: str
    """As it is asked for, and as it is asked of the Instance."""
    endpoint: str
    """As Instances list it: without the leading `/v1/`."""
    methods: tuple[str, ...]
    opaque: bool
    """Whether its body may be anything: then what can be read of it is, and nothing is refused."""


def inference_routes(passthrough_paths: Iterable[str]) -> dict[str, Route]:
    """Build the table of inference paths: the two of OpenAI and the configured ones."""
    routes = {
        path: Route(path, path.removeprefix("/v1/"), ("POST",), opaque=False) for path in _ALWAYS
    }
    for path in passthrough_paths:
        endpoint = path.removeprefix("/v1/").removeprefix("/")
        routes.setdefault(path, Route(path, endpoint, ("POST", "GET", "HEAD"), opaque=True))
    return routes


class Cors:
    """Which web pages may use this service; none by default."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origin.encode() for origin in origins)

    def lines(self, inbound: Inbound) -> bytes:
        """Return the header lines that let the asking page read the answer."""
        if not self._origins:
            return b""
        origin = inbound.fields.get(b"origin")
        if origin is None:
            return b""
        if origin in self._origins or b"*" in self._origins:
            return b"Access-Control-Allow-Origin: %b\r\nVary: Origin\r\n" % origin
        return b"Vary: Origin\r\n"

    def preflight(self, inbound: Inbound, methods: Iterable[str]) -> bytes:
        """Return the header lines that answer a preflight; it carries no credentials."""
        lines = self.lines(inbound)
        if not lines.startswith(b"Access-Control"):
            return lines
        asked = inbound.fields.get(b"access-control-request-headers")
        if asked is not None:
            lines += b"Access-Control-Allow-Headers: %b\r\n" % asked
        allowed = ", ".join(methods).encode()
        return lines + b"Access-Control-Allow-Methods: %b\r\nAccess-Control-Max-Age: 600\r\n" % (
            allowed
        )


class ServicePlane:
    """Sorts requests by path and method."""

    def __init__(
        self,
        *,
        routes: dict[str, Route],
        serve: Callable[[Inbound, Route], None],
        list_models: Callable[[], bytes],
        show_model: Callable[[str], bytes | None],
        is_ready: Callable[[], bool],
        cors: Cors,
    ) -> None:
        self._routes = routes
        self._serve = serve
        self._list_models = list_models
        self._show_model = show_model
        self._is_ready = is_ready
        self._cors = cors

    def on_request(self, inbound: Inbound) -> None:
        """Answer a request, or hand it to the pipeline."""
        route = self._routes.get(inbound.path)
        if route is not None:
            if inbound.method in route.methods:
                self._serve(inbound, route)
            else:
                self._decline(inbound, route.methods)
            return
        path = inbound.path
        if "//" in path:
            # A base URL that ends in a slash gives `//v1/...`; what is meant is clear.
            inbound.path = _SLASHES.sub("/", path)
            self.on_request(inbound)
        elif path in (_MODELS, _MODELS + "/"):
            self._get(inbound, self._list_models)
        elif path.startswith(_MODELS + "/"):
            # OpenAI's client writes the slash in `org/model` as %2F.
            name = urllib.parse.unquote_to_bytes(path.removeprefix(_MODELS + "/").encode("latin-1"))
            self._get_model(inbound, name.decode("utf-8", "replace"))
        elif path in _HEALTH:
            self._health(inbound, path)
        elif path == "*" and inbound.method == "OPTIONS":
            inbound.respond(204, [(b"Allow", b"GET, HEAD, POST, OPTIONS")])
        else:
            self._not_found(inbound)

    def _get(self, inbound: Inbound, make: Callable[[], bytes]) -> None:
        if inbound.method not in ("GET", "HEAD"):
            self._decline(inbound, ("GET", "HEAD"))
            return
        body = make()
        lines = b"Content-Type: application/json\r\n" + self._cors.lines(inbound)
        inbound.begin(200, lines, len(body))
        inbound.finish(body)

    def _get_model(self, inbound: Inbound, name: str) -> None:
        card = self._show_model(name)
        if card is not None:
            self._get(inbound, lambda: card)
            return
        message = f"The model {name[:200]!r} is not served by this pool."
        inbound.respond(404, [_JSON], error_object("model_not_found", message, 404, "model"))

    def _health(self, inbound: Inbound, path: str) -> None:
        if inbound.method not in ("GET", "HEAD"):
            self._decline(inbound, ("GET", "HEAD"))
            return
        ok = path != "/ready" or self._is_ready()
        body = b'{"ok":true}' if ok else b'{"ok":false}'
        inbound.respond(200 if ok else 503, [_JSON, (b"Cache-Control", b"no-store")], body)

    def _decline(self, inbound: Inbound, methods: tuple[str, ...]) -> None:
        allowed = (*methods, "OPTIONS")
        allow = ", ".join(allowed).encode()
        if inbound.method == "OPTIONS":
            lines = b"Allow: %b\r\n%b" % (allow, self._cors.preflight(inbound, allowed))
            inbound.begin(204, lines, None)
            inbound.finish()
            return
        message = f"{inbound.path} takes {', '.join(methods)}, not {inbound.method}."
        body = error_object("method_not_allowed", message, 405)
        inbound.respond(405, [_JSON, (b"Allow", allow)], body)

    def _not_found(self, inbound: Inbound) -> None:
        near = f"/v1{inbound.path}"
        hint = ""
        if near in self._routes or near == _MODELS:
            hint = f" Did you mean {near}?"
        elif inbound.path.startswith("/v1/v1/"):
            hint = f" Did you mean {inbound.path.removeprefix('/v1')}?"
        message = f"There is nothing at {inbound.path[:200]}.{hint}"
        inbound.respond(404, [_JSON], error_object("not_found", message, 404))
