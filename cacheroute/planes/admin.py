"""The control plane's way in for the operator: who takes requests, how many, by which rule.

Who may come in here is decided before: with a token where there is one, else from this machine
alone. What a change does, and whether it may be, is for the owner to say.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Protocol

from fastapi import FastAPI, Request, Response

from cacheroute.core.changes import Change, Effect, Objection, StrategyChange, Who
from cacheroute.core.routing.registry import STRATEGIES
from cacheroute.planes.access import bearer_token
from cacheroute.planes.control_replies import JsonResponse, read
from cacheroute.wire import headers, paths
from cacheroute.wire.admin import SHOWN_IDS, ChangeBody, DrainBody, StrategyBody, WeightBody
from cacheroute.wire.problem import flat_error

_STATUS_OF_OBJECTION = {
    "unknown_instance": 404,
    "unknown_strategy": 422,
    "static_instance": 409,
    "nobody_left": 409,
    "too_many_orders": 503,
}
_USER_MAX_CHARS = 64
_FINGERPRINT_CHARS = 8


class Operating(Protocol):
    """Who does as the operator says; each call is a whole change, or none."""

    @property
    def configured(self) -> str:
        """The strategy of the settings, which a restart brings back."""
        ...

    @property
    def strategy(self) -> str:
        """The strategy that routes."""
        ...

    def drain(
        self, ids: Sequence[str], who: Who, *, reason: str | None, force: bool, dry_run: bool
    ) -> Effect | Objection:
        """Let Instances take no new requests."""
        ...

    def undrain(self, ids: Sequence[str], who: Who, *, dry_run: bool) -> Effect | Objection:
        """Let Instances take requests again."""
        ...

    def weigh(
        self, ids: Sequence[str], weight: float | None, who: Who, *, force: bool, dry_run: bool
    ) -> Effect | Objection:
        """Give Instances another share than their own; None gives them their own again."""
        ...

    def unregister(
        self, ids: Sequence[str], who: Who, *, force: bool, dry_run: bool
    ) -> Effect | Objection:
        """Let registered Instances go."""
        ...

    def use_strategy(self, name: str, who: Who, *, dry_run: bool) -> StrategyChange | Objection:
        """Route by another strategy from the next request on."""
        ...


def add_admin(app: FastAPI, operator: Operating, *, has_token: bool) -> None:
    """Add the operator's calls to a control plane; `has_token` is whether one is asked for."""

    async def drain(request: Request) -> Response:
        body = await read(request, DrainBody)
        who = _who(request, has_token=has_token)
        return _reply(
            operator.drain(
                _ids(body), who, reason=body.reason, force=body.force, dry_run=body.dry_run
            )
        )

    async def undrain(request: Request) -> Response:
        body = await read(request, ChangeBody)
        who = _who(request, has_token=has_token)
        return _reply(operator.undrain(_ids(body), who, dry_run=body.dry_run))

    async def weigh(request: Request) -> Response:
        body = await read(request, WeightBody)
        who = _who(request, has_token=has_token)
        return _reply(
            operator.weigh(_ids(body), body.weight, who, force=body.force, dry_run=body.dry_run)
        )

    async def unregister(request: Request) -> Response:
        body = await read(request, ChangeBody)
        who = _who(request, has_token=has_token)
        return _reply(operator.unregister(_ids(body), who, force=body.force, dry_run=body.dry_run))

    async def use_strategy(request: Request) -> Response:
        body = await read(request, StrategyBody)
        who = _who(request, has_token=has_token)
        return _reply(operator.use_strategy(body.name, who, dry_run=body.dry_run))

    async def strategies(request: Request) -> Response:
        del request
        return JsonResponse(
            {
                "ok": True,
                "strategy": operator.strategy,
                "configured": operator.configured,
                "known": [
                    {"name": row.name, "aliases": row.aliases, "summary": row.summary}
                    for row in STRATEGIES
                ],
            }
        )

    for path, endpoint in (
        (paths.ADMIN_DRAIN, drain),
        (paths.ADMIN_UNDRAIN, undrain),
        (paths.ADMIN_WEIGHT, weigh),
        (paths.ADMIN_UNREGISTER, unregister),
        (paths.ADMIN_STRATEGY, use_strategy),
    ):
        app.add_route(path, endpoint, methods=["POST"])
    app.add_route(paths.ADMIN_STRATEGY, strategies, methods=["GET"])


def _ids(body: ChangeBody) -> tuple[str, ...]:
    return tuple(dict.fromkeys(body.instance_ids))


def _who(request: Request, *, has_token: bool) -> Who:
    token = bearer_token(request.headers.get("authorization", "").encode("latin-1"))
    user = request.headers.get(headers.USER.decode(), "")
    user = "".join(filter(str.isprintable, user))[:_USER_MAX_CHARS]
    return Who(
        peer=request.client.host if request.client else "unknown",
        user=user or None,
        token=_fingerprint(token) if has_token and token else None,
    )


def _fingerprint(token: bytes) -> str:
    return hashlib.sha256(token).hexdigest()[:_FINGERPRINT_CHARS]


def _reply(outcome: Effect | StrategyChange | Objection) -> JsonResponse:
    if isinstance(outcome, Objection):
        error = {**flat_error(outcome.code, outcome.detail), "nearest": outcome.nearest}
        return JsonResponse(error, status_code=_STATUS_OF_OBJECTION[outcome.code])
    if isinstance(outcome, StrategyChange):
        return JsonResponse({"ok": True, **asdict(outcome), "changed": outcome.changed})
    return JsonResponse(
        {
            "ok": True,
            "verb": outcome.verb,
            "dry_run": outcome.dry_run,
            "kept": outcome.kept,
            "changes": list(map(_row, outcome.changes)),
            "left_count": len(outcome.left),
            "left_ids": outcome.left[:SHOWN_IDS],
            "left_resting": outcome.left_resting,
            "left_without": outcome.left_without[:SHOWN_IDS],
        }
    )


def _row(change: Change) -> dict[str, object]:
    return {**asdict(change), "changed": change.changed}
