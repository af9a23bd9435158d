"""From a request to an Instance: filter once per change of the pool, then let a strategy choose."""

import itertools
from collections.abc import Callable, Collection, Sequence

from cacheroute.core.pool_member import Member
from cacheroute.core.request import RouteRequest
from cacheroute.core.routing.candidates import Candidates
from cacheroute.core.routing.filters import OTHER_MODELS, Liveness, Sifted, describe, sift
from cacheroute.core.routing.selection import Chosen, NoInstance, Selection
from cacheroute.core.routing.strategies import Strategy
from cacheroute.core.routing.tiers import ROOM, Tiers

_KEPT_LISTS = 256
"""Most candidate lists kept; model names come from callers, so they must not add up."""

_BUSY_RETRY_S = 1.0


class Router:
    """A strategy, and the lists it chooses from."""

    def __init__(self, strategy: Strategy, *, waits_at_caps: bool = False) -> None:
        self.strategy = strategy
        self._waits_at_caps = waits_at_caps
        self._lists: dict[tuple[str | None, str], Candidates] = {}
        self._tiers: dict[tuple[Member, ...], Tiers] = {}
        """What is kept beside Members, for all lists of the same ones."""
        self._version = -1

    def plan(
        self,
        request: RouteRequest,
        members: dict[str, Member],
        version: int,
        now_mono_s: float,
        liveness: Liveness,
        is_resting: Callable[[Member], bool],
        excluded: Collection[Member] = (),
    ) -> Selection:
        """Choose an Instance; `excluded` are those that this request has failed on.

        `version` is the pool's: while it stands still, lists made before are good.
        """
        if version != self._version:
            self._forget(members, version)
        key = (request.model, request.endpoint)
        candidates = self._lists.get(key)
        if candidates is None:
            sifted = sift(
                members.values(),
                endpoint=request.endpoint,
                model=request.model,
                liveness=liveness,
                is_resting=is_resting,
            )
            if not sifted.kept:
                return _nobody(request, members, sifted)
            if len(self._lists) >= _KEPT_LISTS:
                self._forget(members, version)
            candidates = self._lists[key] = self._list(sifted, now_mono_s)
        out: Sequence[int] = ()
        if excluded or candidates.tiers.is_capped:
            out = candidates.tiers.indexes(excluded)
            standing, count = candidates.tiers.best(out)
            if not count:
                return NoInstance(
                    reason="Every Instance that could serve the request has failed on it."
                )
            may_wait = self._waits_at_caps or request.task is not None
            if standing != ROOM and not may_wait:
                return _all_full(request, candidates, standing, out)
        selection = self.strategy.select(request, candidates, now_mono_s, out)
        if type(selection) is Chosen:
            selection.skipped = candidates.sifted.skipped
        return selection

    def _list(self, sifted: Sifted, now_mono_s: float) -> Candidates:
        kept = tuple(sifted.kept)
        tiers = self._tiers.get(kept)
        if tiers is None:
            tiers = self._tiers[kept] = Tiers(sifted.kept)
            self.strategy.begin(tiers, now_mono_s)
        return Candidates(sifted, tiers)

    def use(self, strategy: Strategy, members: dict[str, Member]) -> None:
        """Choose by another strategy from the next request on; it starts with no lists."""
        self.strategy = strategy
        self._forget(members, self._version)

    def _forget(self, members: dict[str, Member], version: int) -> None:
        self._version = version
        self._lists.clear()
        self._tiers.clear()
        for member in members.values():
            member.places.clear()
            member.standing = ROOM


def _nobody(request: RouteRequest, members: dict[str, Member], sifted: Sifted) -> NoInstance:
    if not members:
        return NoInstance(reason="No Instance is registered.", retry_after_s=_BUSY_RETRY_S)
    reasons = describe(sifted.skipped)
    if sifted.skipped.keys() == {OTHER_MODELS}:
        return NoInstance(
            reason=f"No Instance of this pool serves the model {request.model!r}: {reasons}.",
            code="model_not_found",
        )
    what = f" serves {request.model!r} on {request.endpoint}" if request.model else ""
    return NoInstance(
        reason=f"No alive Instance{what or f' serves {request.endpoint}'}: {reasons}.",
        retry_after_s=_BUSY_RETRY_S,
    )


def _all_full(
    request: RouteRequest, candidates: Candidates, standing: int, out: Sequence[int]
) -> NoInstance:
    full = (
        member
        for index, member in enumerate(candidates.members)
        if member.standing == standing and index not in out
    )
    caps = ", ".join(
        f"{m.instance.instance_id} {m.inflight} of {m.instance.max_concurrent}"
        for m in itertools.islice(full, 4)
    )
    return NoInstance(
        reason=f"Every Instance that serves {request.endpoint} is at its max_concurrent: {caps}.",
        code="all_overloaded",
        retry_after_s=_BUSY_RETRY_S,
    )
