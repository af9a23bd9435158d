"""A request, room by room.

| # | Room    | What happens                                        | May leave by                |
|---|---------|-----------------------------------------------------|-----------------------------|
| 0 | Door    | bytes become a `RouteRequest`                       | 400, 413, 503 draining      |
| 2 | Place   | an Instance is selected and leased, in one step     | 404, 503 no_instance        |
| 3 | Decide  | knowledge goes as text or as KV                     | -                           |
| 4 | Prepare | turnstile 1; the knowledge is brought in            | 429 queue_full              |
| 5 | Ready   | turnstile 2; a slot of the Instance                 | 429 queue_full, 503 draining |
| 6 | Forward | the request is sent, the answer's opening awaited   | 502, 504, or the next try   |
| 8 | Settle  | everything held is given back, exactly once         | -                           |

(1 Session and 7 Gate have nothing to do yet. 3 to 5 are in `runtime.preparation`; a plain
request for an Instance without a cap passes none of them.)

No room calls an earlier one: a second try is the loop in `_forward`, with the Instance that
failed excluded, and only while the client has not been sent a byte. The coroutine is run by
hand (see `dataplane.turns`), so a request that never waits costs no task.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from cacheroute.core.errors import (
    CacheRouteError,
    CapacityError,
    Draining,
    ModelNotFound,
    NoInstanceError,
    Overloaded,
    RequestError,
    UpstreamError,
)
from cacheroute.core.routing.selection import NoInstance
from cacheroute.dataplane.head import render_lines
from cacheroute.dataplane.turns import Turns
from cacheroute.planes import door, problems
from cacheroute.runtime import last_words
from cacheroute.runtime.held import Held
from cacheroute.runtime.judgement import OK, Verdict, judge
from cacheroute.runtime.passage import InstanceLeft
from cacheroute.runtime.proxy import Placement
from cacheroute.runtime.request_log import RequestRecord
from cacheroute.runtime.story import Story
from cacheroute.wire import headers

if TYPE_CHECKING:
    from cacheroute.core.ids import RequestIds
    from cacheroute.core.request import Caller, RouteRequest
    from cacheroute.dataplane.inbound import Inbound
    from cacheroute.planes.service import Cors, Route
    from cacheroute.runtime.preparation import Preparation
    from cacheroute.runtime.proxy import Proxy
    from cacheroute.runtime.request_log import RequestLog
    from cacheroute.upstream.exchange import Exchange
    from cacheroute.upstream.instance import Instances

log = logging.getLogger("cacheroute.pipeline")

_DRAIN_RETRY_S = 5.0
_REQUEST_ID = headers.REQUEST_ID + b": "


class ClientGone(Exception):
    """The client has left; raised in a request wherever it waits."""


class Pipeline:
    """Takes requests through the rooms."""

    def __init__(
        self,
        *,
        proxy: Proxy,
        instances: Instances,
        request_log: RequestLog,
        ids: RequestIds,
        cors: Cors,
        wall_s: Callable[[], float],
        max_attempts: int,
        preparation: Preparation,
    ) -> None:
        self._preparation = preparation
        self._proxy = proxy
        self._instances = instances
        self._log = request_log
        self._ids = ids
        self._cors = cors
        self._wall_s = wall_s
        self._max_attempts = max_attempts

    def start(self, inbound: Inbound, route: Route) -> None:
        """Take in a request; returns when it has to wait, or is done."""
        turns = Turns(self._serve(inbound, route), lambda error: self._crashed(inbound, error))
        inbound.on_gone = lambda: turns.interrupt(ClientGone())
        turns.resume()

    async def _serve(self, inbound: Inbound, route: Route) -> None:
        request = self._door(inbound, route)  # room 0
        if request is None:
            return
        held = Held(self._proxy, self._log, request, inbound)
        try:
            exchange = await self._forward(request, inbound, held)  # rooms 2 and 6
            self._relay(request, inbound, held, exchange)
            await exchange.ending()
            self._end(request, inbound, exchange, held)
        except ClientGone:
            self._unjudge(held)
            held.settle("client_gone")
        except UpstreamError as error:
            self._lose(request, inbound, held, error)
        except CacheRouteError as error:
            held.settle(error.code, error.message, error.status)
            self._answer_error(inbound, error, request.caller, request.request_id)
        finally:
            if not held.is_settled:
                self._unjudge(held)  # or an Instance on trial would wait for its verdict for ever
                held.settle("internal_error")

    # Room 0

    def _door(self, inbound: Inbound, route: Route) -> RouteRequest | None:
        proxy = self._proxy
        try:
            request = door.read(
                inbound,
                route.endpoint,
                route.path,
                opaque=route.opaque,
                ids=self._ids,
                arrived_mono_s=proxy.mono_s(),
                arrived_wall_s=self._wall_s(),
            )
        except door.SchedulerRequestError as error:
            self._turn_away(inbound, route, error.cause, "bad_request", "scheduler", None)
            return None
        except RequestError as error:
            self._turn_away(inbound, route, error, "bad_request", "native", None)
            return None
        if proxy.draining:
            refusal = Draining("This Proxy is shutting down.", retry_after_s=_DRAIN_RETRY_S)
            self._turn_away(inbound, route, refusal, "draining", request.caller, request.request_id)
            return None
        return request

    def _turn_away(
        self,
        inbound: Inbound,
        route: Route,
        error: CacheRouteError,
        cause: str,
        caller: Caller,
        request_id: str | None,
    ) -> None:
        nowhere = self._proxy.nowhere
        nowhere.requests += 1
        nowhere.fail(cause)
        request_id = request_id or self._ids.next()
        record = RequestRecord.turned_away(
            at=self._wall_s(),
            request_id=request_id,
            endpoint=route.endpoint,
            caller=caller,
            status=error.status,
            outcome=cause,
            bytes_in=len(inbound.body),
            error=error.message,
        )
        self._log.add(record)
        self._proxy.traces.add(record)
        self._answer_error(inbound, error, caller, request_id)

    # Rooms 2 and 6

    async def _forward(self, request: RouteRequest, inbound: Inbound, held: Held) -> Exchange:
        """Find an Instance whose answer can be passed on.

        An answer that speaks for trying another Instance is kept until one is found: when
        nobody else can serve, the client gets it as it came.
        """
        placement = self._proxy.place(request)
        if isinstance(placement, NoInstance):
            raise _nobody(placement)
        held.story = last_words.story_for(request, inbound)
        while True:
            body = None
            if held.story is not None or placement.member.instance.max_concurrent is not None:
                placement = await self._prepare(request, held, placement)
                body = None if held.passage is None else held.passage.body
            try:
                exchange = self._instances.forward(
                    request,
                    inbound,
                    placement.member,
                    body=body,
                    keeps_whole=held.story is not None,
                )
            except Exception:
                self._proxy.release(placement)
                self._proxy.unjudged(placement.member)
                raise
            held.take(placement, exchange)
            failure: UpstreamError | None = None
            try:
                await exchange.opening()
            except UpstreamError as error:
                failure = error
                self._proxy.failed(placement.member, error.for_operator)
                error.rename_peer(placement.member.instance.instance_id)
            else:
                verdict = judge(exchange, self._wall_s)
                if verdict is OK:
                    return exchange
                self._note(placement, verdict, held)
                if not verdict.try_another:
                    return exchange
            if failure is not None and not failure.retryable:
                raise failure
            following = self._next(request, held, placement)
            if following is None:
                if failure is not None:
                    raise failure
                return exchange
            held.let_go()
            placement = following

    async def _prepare(self, request: RouteRequest, held: Held, placement: Placement) -> Placement:
        """Rooms 3 to 5; another Instance is found if the chosen one leaves meanwhile."""
        story = held.story or Story(request)
        while True:
            held.hold(placement)
            passage = self._preparation.begin(request, placement, story)
            held.wait(passage)
            try:
                await self._preparation.ready(passage)
            except InstanceLeft:
                self._proxy.unjudged(placement.member)  # it may come back, or be undrained
                held.let_go()
                following = self._proxy.place(
                    request, excluded=held.tried, attempt=held.attempts + 1
                )
                if isinstance(following, NoInstance):
                    raise _nobody(following) from None
                placement = following
            else:
                return placement

    def _next(self, request: RouteRequest, held: Held, failed: Placement) -> Placement | None:
        if held.attempts >= self._max_attempts:
            return None
        following = self._proxy.place(
            request, excluded=(*held.tried, failed.member), attempt=held.attempts + 1
        )
        return None if isinstance(following, NoInstance) else following

    def _note(self, placement: Placement, verdict: Verdict, held: Held) -> None:
        held.is_judged = verdict.is_pressure or verdict.is_fault
        if verdict.is_pressure:
            self._proxy.pressed(placement.member, verdict.wait_s)
        elif verdict.is_fault:
            self._proxy.failed(placement.member, verdict.outcome)

    def _relay(
        self, request: RouteRequest, inbound: Inbound, held: Held, exchange: Exchange
    ) -> None:
        placement = held.placement
        line = b"" if placement is None else self._instances.line(placement.member)
        cors = self._cors.lines(inbound)
        if cors:
            exchange.drop_lines(b"access-control-")  # who may read it is for this Proxy to say
        if held.attempts > 1:
            line += b"%b: %d\r\n" % (headers.ATTEMPTS, held.attempts)
        lines = line + _REQUEST_ID + request.request_id.encode() + b"\r\n" + cors
        if exchange.is_whole:
            exchange.relay_whole(inbound, lines, last_words.in_json(held, exchange))
        else:
            exchange.relay_to(inbound, lines)

    # Room 8

    def _end(self, request: RouteRequest, inbound: Inbound, exchange: Exchange, held: Held) -> None:
        """Settle a complete answer, then let the client see its end."""
        placement = held.placement
        verdict = judge(exchange, self._wall_s)
        if held.story is not None:
            last_words.end_stream(request, inbound, held, exchange, verdict)
        if placement is not None:
            if verdict.outcome == "ok":
                self._proxy.succeeded(placement.member)
            elif verdict.is_fault and not held.is_judged:
                self._proxy.failed(placement.member, verdict.outcome)
            else:
                self._proxy.unjudged(placement.member)
        held.settle(verdict.outcome, exchange.watch.error)
        exchange.finish()

    def _lose(
        self, request: RouteRequest, inbound: Inbound, held: Held, error: UpstreamError
    ) -> None:
        """An Instance failed for good: say so in whatever way is still open."""
        if not inbound.begun:
            held.settle(error.code, error.message, error.status)
            self._answer_error(inbound, error, request.caller, request.request_id)
            return
        exchange, placement = held.exchange, held.placement
        if placement is not None and not held.is_judged:
            self._proxy.failed(placement.member, error.for_operator)
        log.warning("upstream.lost request_id=%s reason=%s", request.request_id, error.message)
        if placement is not None:
            error.rename_peer(placement.member.instance.instance_id)
        is_stream = exchange is not None and exchange.is_stream
        if exchange is not None and is_stream:
            inbound.write(last_words.of_lost_stream(request, inbound, held, exchange, error))
        held.settle("upstream_lost", error.message)
        if is_stream and request.caller == "scheduler":
            inbound.finish()
        else:
            inbound.cut()

    def _unjudge(self, held: Held) -> None:
        if held.placement is not None:
            self._proxy.unjudged(held.placement.member)

    # Answers of our own

    def _answer_error(
        self, inbound: Inbound, error: CacheRouteError, caller: Caller, request_id: str
    ) -> None:
        fields, body = problems.render(error, caller)
        fields.append((headers.REQUEST_ID, request_id.encode()))
        lines = render_lines(fields) + self._cors.lines(inbound)
        inbound.begin(error.status, lines, len(body))
        inbound.finish(body)

    def _crashed(self, inbound: Inbound, error: BaseException) -> None:
        if isinstance(error, ClientGone):
            return
        log.error("request.crashed path=%s", inbound.path, exc_info=error)
        if inbound.begun:
            inbound.cut()
        else:
            body = problems.error_object("internal_error", "The Proxy failed on this request.", 500)
            inbound.respond(500, [(b"Content-Type", b"application/json")], body)


def _nobody(nobody: NoInstance) -> CapacityError | ModelNotFound:
    if nobody.code == "model_not_found":
        return ModelNotFound(nobody.reason)
    kind = Overloaded if nobody.code == "all_overloaded" else NoInstanceError
    return kind(nobody.reason, retry_after_s=nobody.retry_after_s)
