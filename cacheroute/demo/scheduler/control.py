"""The control plane of the Scheduler: Proxies come, send heartbeats and go.

Paths, bodies and statuses are the published ones. A heartbeat of an unknown Proxy is a 404,
which asks it to register again; whatever is wrong with a body is a 422 in FastAPI's form.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from cacheroute.demo.scheduler.answering import allowing, respond, respond_detail
from cacheroute.formats.address import Address, parse_host
from cacheroute.wire import paths, strict_json
from cacheroute.wire.scheduler import (
    PROXY_NOT_REGISTERED,
    ProxyHeartbeatBody,
    ProxyRegisterBody,
    ProxyUnregisterBody,
)

if TYPE_CHECKING:
    from cacheroute.core.clock import Instant
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.demo.scheduler.proxies import Proxies

_Body = TypeVar("_Body", bound=BaseModel)
_FLAG = TypeAdapter(bool)


class Invalid(Exception):
    """A request that cannot be taken in; raised where it is found."""

    def __init__(self, detail: list[dict[str, Any]]) -> None:
        super().__init__(detail)
        self.detail = detail


class ControlPlane:
    """Answers Proxies, and whoever wants to see them."""

    def __init__(
        self,
        proxies: Proxies,
        *,
        heartbeat_s: float,
        now: Callable[[], Instant],
        on_change: Callable[[], None],
    ) -> None:
        self._proxies = proxies
        self._heartbeat_s = heartbeat_s
        self._now = now
        self._on_change = on_change
        self._routes: Mapping[str, tuple[str, Callable[[Inbound], None]]] = {
            paths.HEALTHZ: ("GET", self._healthz),
            paths.PROXY_REGISTER: ("POST", self._register),
            paths.PROXY_HEARTBEAT: ("POST", self._heartbeat),
            paths.PROXY_UNREGISTER: ("POST", self._unregister),
            paths.PROXY_LIST: ("GET", self._list),
        }

    def on_request(self, inbound: Inbound) -> None:
        """Answer one request."""
        method, route = self._routes.get(inbound.path, ("", None))
        if route is None:
            respond_detail(inbound, 404, "Not Found")
        elif inbound.method not in (method, "HEAD" if method == "GET" else method):
            respond(inbound, {"detail": "Method Not Allowed"}, 405, [allowing([method])])
        else:
            try:
                route(inbound)
            except Invalid as invalid:
                respond_detail(inbound, 422, invalid.detail)

    def _healthz(self, inbound: Inbound) -> None:
        respond(inbound, {"ok": True, "ttl_s": _plain(self._proxies.ttl_s)})

    def _register(self, inbound: Inbound) -> None:
        body = _read(inbound, ProxyRegisterBody)
        try:
            address = Address(parse_host(body.host), body.port)
        except ValueError as error:
            raise _wrong("host", str(error), body.host) from None
        proxy_id = self._proxies.register(body, address, self._now())
        if proxy_id is None:
            respond_detail(inbound, 503, "This Scheduler knows as many Proxies as it has room for.")
            return
        self._on_change()
        reply = {
            "proxy_id": proxy_id,
            "heartbeat_interval_s": _plain(self._heartbeat_s),
            "ttl_s": _plain(self._proxies.ttl_s),
        }
        respond(inbound, reply)

    def _heartbeat(self, inbound: Inbound) -> None:
        body = _read(inbound, ProxyHeartbeatBody)
        try:
            known = self._proxies.heartbeat(body, self._now())
        except ValueError as error:
            raise _wrong("meta_patch", str(error), None) from None
        if known:
            respond(inbound, {"ok": True})
        else:
            respond_detail(inbound, 404, PROXY_NOT_REGISTERED)

    def _unregister(self, inbound: Inbound) -> None:
        self._proxies.unregister(_read(inbound, ProxyUnregisterBody).proxy_id)
        self._on_change()
        respond(inbound, {"ok": True})

    def _list(self, inbound: Inbound) -> None:
        rows = self._proxies.rows(self._now(), include_dead=_include_dead(inbound.query))
        respond(inbound, [row.model_dump() for row in rows])


def _read(inbound: Inbound, form: type[_Body]) -> _Body:
    if not inbound.body:
        raise Invalid([_row("missing", ("body",), "Field required", None)])
    try:
        value = json.loads(inbound.body)
    except (ValueError, RecursionError) as error:
        at = getattr(error, "pos", 0)
        said = {"error": getattr(error, "msg", str(error))}
        row = _row("json_invalid", ("body", at), "JSON decode error", {})
        raise Invalid([{**row, "ctx": said}]) from None
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise _invalid(error, "body") from None


def _include_dead(query: bytes) -> bool:
    asked = urllib.parse.parse_qs(query.decode("latin-1"), keep_blank_values=True)
    values = asked.get("include_dead")
    if not values:
        return False
    try:
        return _FLAG.validate_python(values[-1])
    except ValidationError as error:
        raise _invalid(error, "query", "include_dead") from None


def _invalid(error: ValidationError, *where: str) -> Invalid:
    return Invalid(
        [
            _row(one["type"], (*where, *one["loc"]), one["msg"], one["input"])
            for one in error.errors(include_url=False, include_context=False)
        ]
    )


def _wrong(name: str, why: str, given: object) -> Invalid:
    return Invalid([_row("value_error", ("body", name), f"Value error, {why}", given)])


def _row(kind: str, where: tuple[object, ...], said: str, given: object) -> dict[str, Any]:
    shown = None if strict_json.flaw_of(given) else given
    return {"type": kind, "loc": list(where), "msg": said, "input": shown}


def _plain(seconds: float) -> float:
    """Write whole seconds without a point, as published."""
    return int(seconds) if seconds == int(seconds) else seconds
