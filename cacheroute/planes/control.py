"""The control plane: Instances come, report and go here, and people look in.

Each endpoint reads a body, asks the owner once, and says what came of it. Importing this
module loads FastAPI; nothing else in the Proxy does.
"""

import asyncio
from typing import Annotated

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from cacheroute import __version__
from cacheroute.core.instance import Instance
from cacheroute.core.pool_outcomes import Heartbeat, Refusal
from cacheroute.core.pool_resource import pool_resource_sources
from cacheroute.core.resources import normalise
from cacheroute.core.topology import Link
from cacheroute.planes import debug
from cacheroute.planes.access import Access
from cacheroute.planes.body_limit import BodyLimit
from cacheroute.planes.console_routes import add_console
from cacheroute.planes.console_stream import Abort
from cacheroute.planes.control_owner import ControlOwner, ControlRules
from cacheroute.planes.control_replies import (
    JsonResponse,
    invalid,
    on_error,
    on_invalid,
    on_refused,
    problem,
    read,
)
from cacheroute.planes.predictions import errors_row, predictions_page, take
from cacheroute.planes.registering import forbidden, instance_behind, instance_of
from cacheroute.planes.summary import limits, pool_summary, ttl_s
from cacheroute.planes.topology import count_links, kdn_links, topology_page
from cacheroute.wire import paths
from cacheroute.wire.instances import (
    HeartbeatBody,
    RegisterBody,
    SnapshotBody,
    UnregisterBody,
)
from cacheroute.wire.topology import TopologyReportBody

_STATUS_OF_REFUSAL = {
    "pool_full": 503,
    "address_taken": 409,
    "static_instance": 409,
    "meta_too_large": 422,
}
_UNKNOWN = {"ok": False, "error": "unknown_instance"}
_MAX_DECISIONS = 1_024


def build_control_app(
    owner: ControlOwner,
    rules: ControlRules,
    *,
    stopping: asyncio.Event | None = None,
    abort: Abort = lambda _: None,
) -> FastAPI:
    """Build the ASGI app; routes that are added to it later are protected alike.

    `stopping` is set when answers without an end have to end; `abort` cuts off a client.
    """
    app = FastAPI(
        title="CacheRoute control plane",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        default_response_class=JsonResponse,
        # Else an environment variable could make the framework export what passes here.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_refused)
    app.add_exception_handler(Exception, on_error)
    # Instances that report each second come first: routes are tried in order.
    _instances(app, owner, rules)
    _topology(app, owner, rules)
    _health(app, owner)
    _debug(app, owner)
    add_console(app, owner, stopping=stopping or asyncio.Event(), abort=abort)
    app.add_middleware(
        BodyLimit,
        max_bytes=rules.body_bytes,
        max_bytes_by_path={paths.INSTANCE_RESOURCE_SNAPSHOT: rules.snapshot_bytes},
        timeout_s=rules.body_timeout_s,
    )
    app.add_middleware(Access, token=rules.token)  # The last one added is the first one asked.
    return app


def _health(app: FastAPI, owner: ControlOwner) -> None:
    async def health() -> Response:
        return JsonResponse({"ok": True, "ttl_s": ttl_s(owner)})

    async def ready() -> Response:
        if owner.draining:
            return JsonResponse({"ok": False, "reason": "draining"}, status_code=503)
        if not any(True for _ in owner.pool.willing(owner.clock.now())):
            return JsonResponse({"ok": False, "reason": "no_instance"}, status_code=503)
        return JsonResponse({"ok": True})

    for path, endpoint in ((paths.HEALTH, health), (paths.HEALTHZ, health), (paths.READY, ready)):
        app.add_api_route(path, endpoint, methods=["GET", "HEAD"])


def _instances(app: FastAPI, owner: ControlOwner, rules: ControlRules) -> None:
    async def register(request: Request) -> Response:
        body = await read(request, RegisterBody)
        try:
            instance = instance_of(body, owner.clock.now().wall_s)
        except ValueError as error:
            return invalid("host", f"{error}.", body.host)
        barred = forbidden(instance, rules)
        if barred:
            return problem(400, barred.code, barred.detail)
        outcome = owner.register(instance)
        if isinstance(outcome, Refusal):
            return problem(_STATUS_OF_REFUSAL[outcome.code], outcome.code, outcome.detail)
        ttl = ttl_s(owner)
        known = outcome.member.instance
        return JsonResponse(
            {
                "instance_id": known.instance_id,
                "heartbeat_interval_s": min(10, max(1, ttl // 3)),
                "ttl_s": ttl,
                "capability_fingerprint": known.capability_fingerprint,
            }
        )

    async def heartbeat(request: Request) -> Response:
        body = await read(request, HeartbeatBody)
        beat = owner.heartbeat(
            body.instance_id,
            qps_1m=body.qps_1m,
            gpu_util=body.gpu_util,
            capabilities=body.capabilities.as_stored() if body.capabilities else None,
            reported_fingerprint=body.capability_fingerprint,
        )
        if beat.status == "unknown_instance" and _taken_back(owner, rules, body):
            return JsonResponse({"ok": True})
        return JsonResponse(_heartbeat_reply(beat, body))

    async def unregister(request: Request) -> Response:
        body = await read(request, UnregisterBody)
        if owner.unregister(body.instance_id):
            return JsonResponse({"ok": True})
        if body.instance_id in owner.pool.members:
            detail = "It is in the configuration, and leaves the pool when it leaves that."
            return JsonResponse({"ok": False, "error": "static_instance", "detail": detail})
        return JsonResponse(_UNKNOWN)

    async def resource_snapshot(request: Request) -> Response:
        body = await read(request, SnapshotBody)
        resource = normalise(body.snapshot, body.metadata, owner.clock.now())
        report = owner.report_resource(body.instance_id, resource)
        return JsonResponse({"ok": True} if report.member else _UNKNOWN)

    for path, endpoint in (
        (paths.INSTANCE_RESOURCE_SNAPSHOT, resource_snapshot),
        (paths.INSTANCE_HEARTBEAT, heartbeat),
        (paths.INSTANCE_REGISTER, register),
        (paths.INSTANCE_UNREGISTER, unregister),
    ):
        # Plain routes: nothing of FastAPI's is needed here, and these come every second.
        app.add_route(path, endpoint, methods=["POST"])

    @app.get(paths.INSTANCE_LIST)
    async def instances(include_dead: bool = False, raw: bool = True) -> Response:
        snapshot = owner.pool.snapshot(owner.clock.now())
        return JsonResponse(debug.instance_rows(snapshot, include_dead=include_dead, raw=raw))


def _topology(app: FastAPI, owner: ControlOwner, rules: ControlRules) -> None:
    async def report(request: Request) -> Response:
        body = await read(request, TopologyReportBody)
        if len(body.links) > rules.max_links:
            message = f"A report may hold {rules.max_links} links, not {len(body.links)}."
            return invalid("links", message)
        if body.instance_id not in owner.pool.members:
            return JsonResponse({**_UNKNOWN, "merged_links": 0})
        links = {key: Link.of(link.as_reported()) for key, link in body.links.items()}
        refused = owner.report_topology(body.instance_id, links)
        if refused:
            return problem(503, "topology_full", refused)
        return JsonResponse({"ok": True, "merged_links": len(links)})

    app.add_route(paths.TOPOLOGY_REPORT, report, methods=["POST"])

    @app.get(paths.TOPOLOGY_KDN_LINKS)
    async def merged() -> Response:
        snapshot = owner.pool.snapshot(owner.clock.now())
        return JsonResponse({"kdn_links": kdn_links(owner.topology, snapshot)})

    @app.get(paths.DEBUG_TOPOLOGY)
    async def in_detail() -> Response:
        snapshot = owner.pool.snapshot(owner.clock.now())
        return JsonResponse(topology_page(owner.topology, snapshot))


def _debug(app: FastAPI, owner: ControlOwner) -> None:
    @app.get(paths.DEBUG_STATUS)
    async def status() -> Response:
        snapshot = owner.pool.snapshot(owner.clock.now())
        return JsonResponse(
            debug.status(
                snapshot,
                ttl_s=ttl_s(owner),
                links=count_links(owner.topology, snapshot),
                proxy_id=owner.proxy_id,
                version=__version__,
                strategy=owner.strategy.name,
                started=owner.started,
                draining=owner.draining,
                unknown_reports=owner.pool.unknown.total,
                scheduler_state=owner.scheduler_state.state,
                knowledge_paths=owner.knowledge_paths,
                prediction_error=errors_row(owner.predictions.errors),
                injection_strategy=owner.injection_strategy,
                nodes=owner.nodes,
            )
        )

    @app.get(paths.DEBUG_INSTANCE_RESOURCES)
    async def resources(include_dead: bool = True) -> Response:
        snapshot = owner.pool.snapshot(owner.clock.now())
        return JsonResponse(debug.instance_resources(snapshot, include_dead=include_dead))

    @app.get(paths.DEBUG_INSTANCE_LOADS)
    async def loads(include_dead: bool = True) -> Response:
        return JsonResponse(
            debug.instance_loads(
                owner.pool.snapshot(owner.clock.now()),
                include_dead=include_dead,
                ttl_s=ttl_s(owner),
                weights=owner.weights.as_mapping(),
                limits=limits(owner),
            )
        )

    @app.get(paths.DEBUG_POOL_RESOURCE)
    async def pool() -> Response:
        return JsonResponse({"ok": True, "pool_resource": pool_summary(owner)})

    @app.get(paths.DEBUG_POOL_RESOURCE_SOURCES)
    async def pool_sources() -> Response:
        return JsonResponse({"ok": True, **pool_resource_sources(pool_summary(owner))})

    @app.get(paths.DEBUG_SCHEDULER)
    async def scheduler() -> Response:
        state = owner.scheduler_state.as_wire(owner.clock.now())
        return JsonResponse({"ok": True, **state})

    @app.get(paths.DEBUG_PREDICTIONS)
    async def predictions() -> Response:
        # Sorting the errors of a thousand Instances would hold up every stream.
        taken = take(owner.predictions, owner.clock.now().wall_s)
        return await asyncio.to_thread(lambda: JsonResponse(predictions_page(taken)))

    @app.get(paths.DEBUG_DECISIONS)
    async def decisions(
        last: Annotated[int | None, Query(ge=1, le=_MAX_DECISIONS)] = None,
        since: Annotated[int | None, Query(ge=0)] = None,
    ) -> Response:
        return JsonResponse(debug.decisions(owner.decisions, last=last, since=since))


def _taken_back(owner: ControlOwner, rules: ControlRules, body: HeartbeatBody) -> bool:
    if body.capabilities is None:
        return False
    instance: Instance | None = instance_behind(
        body.instance_id, body.capabilities, owner.clock.now().wall_s
    )
    if instance is None or forbidden(instance, rules):
        return False
    return not isinstance(owner.register(instance), Refusal)


def _heartbeat_reply(beat: Heartbeat, body: HeartbeatBody) -> dict[str, object]:
    if beat.status == "ok":
        return {"ok": True}
    asked_again: dict[str, object] = {
        "ok": False,
        "error": beat.status,
        "requires_capabilities": True,
    }
    if beat.status == "unknown_instance":
        detail = f"{body.instance_id} is not in the pool: register it again."
        return {**asked_again, "detail": detail}
    return {
        **asked_again,
        "expected_fingerprint": beat.expected_fingerprint,
        "reported_fingerprint": body.capability_fingerprint,
    }
