"""Whose turn it is to be asked whether it is there.

An Instance that is dead holds its place until the time limit, and a hundred of them would hold
all there are. So those that answered last time, those that failed and those that were never
asked have places of their own, and in each of the three whoever is longest due goes first.
"""

import math
from collections import Counter
from collections.abc import Hashable
from typing import Generic, Literal, TypeVar

Kind = Literal["new", "well", "failing"]
T = TypeVar("T", bound=Hashable)

PLACES = 64
"""Most Instances of one kind that are asked at once."""
_SOON_S = 1.0
_TRIES_SOON = 3
_MOST_FAILURES = 30


class _Turn:
    """When one is to be asked, and how it went."""

    __slots__ = ("due_s", "failures")

    def __init__(self) -> None:
        self.due_s = 0.0
        self.failures: int | None = None
        """Failures since its last answer; None before its first probe has ended."""

    @property
    def kind(self) -> Kind:
        if self.failures is None:
            return "new"
        return "failing" if self.failures else "well"


class ProbePlan(Generic[T]):
    """Who is to be asked when; times are on the monotonic clock, in seconds."""

    def __init__(self, interval_s: float, places: int = PLACES) -> None:
        self._interval_s = interval_s
        self._places = places
        self._turns: dict[T, _Turn] = {}
        self._asking: dict[T, Kind] = {}
        """Who is being asked, and of which kind it was; it may have left since."""
        self.keeps_waiting = False
        """Whether one was due at the last `begin` and has to wait until a probe has ended."""

    def __contains__(self, one: T) -> bool:
        return one in self._turns

    def ask_soon(self, one: T) -> None:
        """One is new, or has changed: it is due, even while it is being asked."""
        self._turns.setdefault(one, _Turn()).due_s = 0.0

    def forget(self, one: T) -> None:
        """One has left."""
        self._turns.pop(one, None)

    def begin(self, now_s: float) -> list[T]:
        """Return who is to be asked now; each keeps its place until `answered` or `failed`."""
        due: dict[Kind, list[tuple[float, T]]] = {"well": [], "new": [], "failing": []}
        self.keeps_waiting = False
        for one, turn in self._turns.items():
            if turn.due_s > now_s:
                continue
            if one in self._asking:
                self.keeps_waiting = True
            else:
                due[turn.kind].append((turn.due_s, one))
        taken = Counter(self._asking.values())
        beginning = []
        for kind, waiting in due.items():
            waiting.sort(key=lambda each: each[0])
            free = max(0, self._places - taken[kind])
            self.keeps_waiting = self.keeps_waiting or len(waiting) > free
            for _, one in waiting[:free]:
                self._asking[one] = kind
                self._turns[one].due_s = math.inf
                beginning.append(one)
        return beginning

    def due_in_s(self, now_s: float) -> float:
        """Return how long until one is due that is not by now; infinite if there is none."""
        waiting = (turn.due_s for one, turn in self._turns.items() if one not in self._asking)
        return min((due_s - now_s for due_s in waiting if due_s > now_s), default=math.inf)

    def answered(self, one: T, now_s: float) -> int:
        """One has answered; returns how often it had failed before."""
        del self._asking[one]
        turn = self._turns.get(one)
        if turn is None:
            return 0
        failures, turn.failures = turn.failures, 0
        self._put_off(turn, now_s + self._interval_s)
        return failures or 0

    def failed(self, one: T, now_s: float, *, was_known: bool) -> int:
        """One has not answered; returns how often in a row, 0 if it has left meanwhile.

        One that is not known yet may only be starting, and is asked again soon; but a thousand
        that never start must not keep us busy.
        """
        del self._asking[one]
        turn = self._turns.get(one)
        if turn is None:
            return 0
        pause_s = self._interval_s
        before = turn.failures or 0
        if not was_known:
            pause_s = min(pause_s, _SOON_S * 2.0 ** max(0, before + 1 - _TRIES_SOON))
        turn.failures = min(before + 1, _MOST_FAILURES)
        self._put_off(turn, now_s + pause_s)
        return turn.failures

    def given_up(self, one: T) -> None:
        """One was being asked when all was stopped: nothing is known, and it is due again."""
        del self._asking[one]
        turn = self._turns.get(one)
        if turn is not None:
            turn.due_s = 0.0

    @staticmethod
    def _put_off(turn: _Turn, due_s: float) -> None:
        if turn.due_s == math.inf:  # otherwise it has changed, and is asked again
            turn.due_s = due_s
