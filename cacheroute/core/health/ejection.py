"""Who rests after failing requests, for how long, and how it comes back.

Only what requests meet counts: an Instance whose health page is green can still be stuck.
After its rest an Instance is tried with one request at a time; a good answer brings it
back, another failure sends it off for twice as long.
"""

import math
from enum import Enum, auto

from cacheroute.core.health.rules import EjectionRules
from cacheroute.core.pool_member import Member


class Phase(Enum):
    """Where an Instance stands after failures."""

    WATCHED = auto()
    """It has failed, not often enough; it is used as ever."""
    RESTING = auto()
    """It is not used until its time is up, unless all others rest as well."""
    ON_TRIAL = auto()
    """Its time is up; the next request will try it."""
    TRYING = auto()
    """A request is trying it; others go elsewhere until that is decided."""


class Rest:
    """What is remembered of one Instance's failures."""

    __slots__ = ("failures", "phase", "rests")

    def __init__(self) -> None:
        self.failures = 0
        """Failures since the last good answer."""
        self.rests = 0
        """Rests since the last good answer; each is twice as long as the one before."""
        self.phase = Phase.WATCHED


class Ejections:
    """Keeps the rests of all Members; each method says whether who is usable has changed."""

    def __init__(self, rules: EjectionRules) -> None:
        self._rules = rules
        self._resting: set[Member] = set()
        self.next_return_mono_s = math.inf
        """Before this moment `due` has nothing to do."""

    @staticmethod
    def is_resting(member: Member) -> bool:
        """Whether new requests should go elsewhere."""
        rest = member.rest
        return isinstance(rest, Rest) and rest.phase in (Phase.RESTING, Phase.TRYING)

    @staticmethod
    def rests_at(member: Member, now_mono_s: float) -> bool:
        """Whether it rests at this moment: a rest ends with its time, the phase with a request."""
        is_over = member.ejected_until_mono_s <= now_mono_s
        rest = member.rest
        if not isinstance(rest, Rest):
            return False
        return rest.phase is Phase.TRYING or (rest.phase is Phase.RESTING and not is_over)

    def on_dispatch(self, member: Member) -> bool:
        """A request was sent to it."""
        rest = member.rest
        if isinstance(rest, Rest) and rest.phase is Phase.ON_TRIAL:
            rest.phase = Phase.TRYING
            return True
        return False

    def on_success(self, member: Member) -> bool:
        """It gave a good, whole answer."""
        rest = member.rest
        if not isinstance(rest, Rest):
            return False
        member.rest = None
        member.ejected_until_mono_s = 0.0
        self._resting.discard(member)
        self._note_next()
        return rest.phase is not Phase.WATCHED

    def on_neutral(self, member: Member) -> bool:
        """A request ended and says nothing of it: the client left, or asked for nonsense."""
        rest = member.rest
        if isinstance(rest, Rest) and rest.phase is Phase.TRYING:
            rest.phase = Phase.ON_TRIAL
            return True
        return False

    def on_failure(self, member: Member, now_mono_s: float) -> bool:
        """It failed a request."""
        rest = member.rest
        if not isinstance(rest, Rest):
            rest = member.rest = Rest()
        rest.failures += 1
        if rest.phase is Phase.RESTING:
            return False  # it was used because all are at rest; its time runs on
        if rest.phase is Phase.WATCHED and rest.failures < self._rules.failures:
            return False
        rules = self._rules
        rest_s = min(rules.cool_down_s * 2.0 ** min(rest.rests, 30), rules.cool_down_max_s)
        rest.rests += 1
        self._send_to_rest(member, rest, now_mono_s + rest_s)
        return True

    def on_hint(self, member: Member, wait_s: float | None, now_mono_s: float) -> bool:
        """It asked to be left alone for a while (429 or 503); not a failure.

        Without a usable number the first rest's length is taken; a longer wait that is
        already running is kept.
        """
        rules = self._rules
        if wait_s is None:
            wait_s = rules.cool_down_s
        wait_s = min(max(wait_s, 0.0), rules.retry_after_max_s)
        until_mono_s = now_mono_s + wait_s
        rest = member.rest
        if not isinstance(rest, Rest):
            rest = member.rest = Rest()
        if rest.phase is Phase.RESTING and until_mono_s <= member.ejected_until_mono_s:
            return False
        self._send_to_rest(member, rest, until_mono_s)
        return True

    def due(self, now_mono_s: float) -> bool:
        """Bring back whose time is up."""
        returning = [m for m in self._resting if m.ejected_until_mono_s <= now_mono_s]
        for member in returning:
            self._resting.discard(member)
            rest = member.rest
            if not isinstance(rest, Rest):
                continue
            # One that only asked for a pause has nothing to prove.
            rest.phase = Phase.ON_TRIAL if rest.rests else Phase.WATCHED
        self._note_next()
        return bool(returning)

    def forget(self, member: Member) -> None:
        """It has left the pool."""
        self._resting.discard(member)
        self._note_next()

    def _send_to_rest(self, member: Member, rest: Rest, until_mono_s: float) -> None:
        rest.phase = Phase.RESTING
        member.ejected_until_mono_s = until_mono_s
        self._resting.add(member)
        self._note_next()

    def _note_next(self) -> None:
        self.next_return_mono_s = min(
            (member.ejected_until_mono_s for member in self._resting), default=math.inf
        )
