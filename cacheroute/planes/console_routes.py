"""What consoles read, as routes of the control plane."""

import asyncio
from typing import Annotated

from fastapi import FastAPI, Header, Query, Request, Response

from cacheroute.planes.console import ConsolePages
from cacheroute.planes.console_stream import Abort, ConsoleStream
from cacheroute.planes.control_owner import ControlOwner
from cacheroute.planes.control_replies import JsonResponse, problem
from cacheroute.planes.traces import trace_page, traces_page
from cacheroute.wire import paths

MAX_TRACES = 1_024
_MAX_DECISIONS = 1_024
_MAX_ID_CHARS = 264
_MAX_ETAG_CHARS = 64


def add_console(
    app: FastAPI, owner: ControlOwner, *, stopping: asyncio.Event, abort: Abort
) -> ConsoleStream:
    """Add the snapshot, the stream and the traces; `stopping` ends streams, `abort` one of them."""
    pages = ConsolePages(owner)
    stream = ConsoleStream(pages, stopping, abort)

    @app.get(paths.CONSOLE_SNAPSHOT)
    async def snapshot(
        since: Annotated[int | None, Query(ge=0)] = None,
        who: Annotated[int | None, Query(ge=0)] = None,
        if_none_match: Annotated[str | None, Header(max_length=_MAX_ETAG_CHARS)] = None,
    ) -> Response:
        known = since if if_none_match is None else revision_of(if_none_match)
        rev, document = pages.answer(known, who)
        headers = {"etag": f'W/"{rev}"', "cache-control": "no-cache"}
        if document is None and if_none_match is not None:
            return Response(status_code=304, headers=headers)
        body = pages.unchanged() if document is None else document
        return Response(body, headers=headers, media_type="application/json")

    @app.get(paths.CONSOLE_INSTANCE)
    async def instance(id: Annotated[str, Query(max_length=_MAX_ID_CHARS)]) -> Response:  # noqa: A002 - its name in the URL
        page = pages.instance(id)
        if page is None:
            return problem(404, "unknown_instance", f"{id} is not in the pool.")
        return JsonResponse(page)

    async def read_along(request: Request) -> Response:
        del request
        return stream.open()

    app.add_route(paths.CONSOLE_STREAM, read_along, methods=["GET"])

    @app.get(paths.DEBUG_TRACES)
    async def traces(
        last: Annotated[int, Query(ge=1, le=MAX_TRACES)] = 50,
        since: Annotated[int | None, Query(ge=0)] = None,
        request_id: Annotated[str | None, Query(max_length=_MAX_ID_CHARS)] = None,
    ) -> Response:
        if request_id is None:
            return JsonResponse(traces_page(owner.traces, last=last, since=since))
        decided = [
            decision.as_wire()
            for decision in owner.decisions.last(_MAX_DECISIONS)
            if decision.request_id == request_id
        ]
        page = trace_page(owner.traces, request_id, decided)
        if page is None:
            detail = f"{request_id} is not among the last requests that have ended."
            return problem(404, "unknown_request", detail)
        return JsonResponse(page)

    return stream


def revision_of(etag: str) -> int | None:
    """Read the revision that an entity tag stands for; None for a tag of somebody else."""
    digits = etag.strip().removeprefix("W/").strip('"')
    return int(digits) if digits.isascii() and digits.isdigit() else None
