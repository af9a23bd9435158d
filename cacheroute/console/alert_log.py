"""What was out of order and when: alerts from look to look, as long as somebody watches.

One that ends stays as past for a while, since whoever looks a minute later wants to know. One
whose measure wavers about its threshold is one alert, not a new one with each look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from cacheroute.console.alerts import ORDER, Alert, AlertKey, AlertKind

AlertState = Literal["active", "silenced", "past"]

HOLD = timedelta(seconds=10)
"""How long a measure must be back within its limits for its alert to end."""
RETURN = timedelta(seconds=60)
"""An alert that comes back within so long of its last time goes on as the one before."""
PAST_FOR = timedelta(minutes=10)
"""How long one that ended stays."""
MAX_PAST = 50
"""How many that ended stay at most, the newest ones."""

_WAVERING: frozenset[AlertKind] = frozenset(
    {"hung", "skew", "slow", "gpu", "mem", "report", "backlog", "kdn"}
)
"""Kinds told by a measure. The others are states, and a state has ended when it has."""
_WORSE: Mapping[AlertKind, AlertKind] = {"stale": "dead"}
"""What an alert may turn into; it has not ended then."""
_STATES: Mapping[AlertState, int] = {"active": 0, "silenced": 1, "past": 2}
_CLOCK_STEP = timedelta(seconds=5)
"""A clock that goes back by at most this was corrected; by more, a recording was wound back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One alert, and what has become of it."""

    alert: Alert
    """As it was last found; it knows since when."""
    state: AlertState
    """A silenced one is as active, and somebody has said that they know."""
    last_at: datetime
    """When it was last found, by the Proxy's clock."""

    def later(self, passed_s: float) -> "Noted":
        """Return it as it reads so many seconds after the last look that was judged."""
        alert = self.alert if self.state == "past" else self.alert.later(passed_s)
        return self if alert is self.alert else replace(self, alert=alert)


class AlertLog:
    """Keeps one entry for each alert, by its key."""

    def __init__(self) -> None:
        self._noted: dict[AlertKey, Noted] = {}
        self._listed: tuple[Noted, ...] | None = ()
        self._at: datetime | None = None

    @property
    def noted(self) -> tuple[Noted, ...]:
        """All of them: the active ones, the worst first, then silenced, then past ones."""
        if self._listed is None:
            self._listed = tuple(sorted(self._noted.values(), key=_order))
        return self._listed

    def note(self, found: Sequence[Alert], at: datetime) -> tuple[Noted, ...]:
        """Take what a look has found, the worst first; `at` is the Proxy's clock."""
        if self._at is not None and at < self._at - _CLOCK_STEP:
            self._noted.clear()
        self._at = at
        before = self._noted
        now = {alert.key: _found(alert, before.get(alert.key), at) for alert in found}
        for key, one in before.items():
            if key not in now and (kept := _missed(one, at)) is not None:
                now[key] = kept
        for kind, worse in _WORSE.items():
            for key in [key for key in now if key[0] == kind and now[key].state == "past"]:
                if (worse, key[1]) in now:
                    del now[key]
        ordered = sorted(now.values(), key=_order)
        going_on = sum(one.state != "past" for one in ordered)
        listed = tuple(ordered[: going_on + MAX_PAST])
        self._noted = {one.alert.key: one for one in listed}
        self._listed = listed
        return listed

    def silence(self, key: AlertKey) -> bool:
        """Stop counting an alert until it ends; returns whether it was active."""
        return self._turn(key, "active", "silenced")

    def unsilence(self, key: AlertKey) -> bool:
        """Count an alert again; returns whether it was silenced."""
        return self._turn(key, "silenced", "active")

    def _turn(self, key: AlertKey, state: AlertState, into: AlertState) -> bool:
        one = self._noted.get(key)
        if one is None or one.state != state:
            return False
        self._noted[key] = replace(one, state=into)
        self._listed = None
        return True


def _found(alert: Alert, known: Noted | None, at: datetime) -> Noted:
    since = alert.since or at
    state: AlertState = "active"
    if known is not None and (known.state != "past" or at - known.last_at <= RETURN):
        since = alert.since or known.alert.since or at
        state = "active" if known.state == "past" else known.state
    told = alert if alert.since is not None else replace(alert, since=since)
    return Noted(alert=told, state=state, last_at=at)


def _missed(one: Noted, at: datetime) -> Noted | None:
    """Return what becomes of one that was not found; None when it is forgotten."""
    silent_for = at - one.last_at
    if one.state != "past" and one.alert.kind in _WAVERING and silent_for < HOLD:
        return one
    return None if silent_for > PAST_FOR else replace(one, state="past")


def _order(one: Noted) -> tuple[int, float]:
    if one.state == "past":
        return (_STATES[one.state], -one.last_at.timestamp())
    return (_STATES[one.state], ORDER[one.alert.severity])
