"""What follows when a process has ended by itself: another try, the end, or giving up.

The pause doubles with each try and starts anew once a process has lived long enough; too many
tries within the window, and it has failed. Time is handed in.
"""

from collections import deque
from dataclasses import dataclass

from cacheroute_cli.supervisor.process import RestartRule

BAD_CONFIG = 2
"""Exit code of our own programs that no further try changes."""
HOPELESS_AT_FIRST = {
    5: "something that it needs is taken",
    8: "it is not allowed to",
    9: "what it talks to is not what it should be",
}
"""Exit codes that further tries seldom change, as long as none has ever worked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """It is started again after a pause."""

    pause_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It has ended as it should, and stays ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenUp:
    """It has failed, for this reason."""

    why: str


class Restarts:
    """The restarts of one process, of which it remembers as many as count."""

    def __init__(self, rule: RestartRule, *, is_ours: bool) -> None:
        self._rule = rule
        self._is_ours = is_ours
        self._at_s: deque[float] = deque(maxlen=max(1, rule.most))
        self._in_a_row = 0
        self.count = 0
        """How often it was started again, in all."""

    def after(
        self, exit_code: int, *, now_s: float, lived_s: float, was_ready: bool
    ) -> Again | Done | GivenUp:
        """Say what follows an end; the answer Again counts as a restart."""
        how = told(exit_code)
        rule = self._rule
        if rule.mode != "always" and exit_code == 0:
            return Done()
        if rule.mode == "never":
            return GivenUp(why=f"{how}, and restart is never")
        if self._is_ours and exit_code == BAD_CONFIG:
            return GivenUp(why=f"{how}: its configuration is refused")
        if self._is_ours and exit_code in HOPELESS_AT_FIRST and not was_ready:
            return GivenUp(why=f"{how}: {HOPELESS_AT_FIRST[exit_code]}")
        is_full = rule.most == 0 or len(self._at_s) == rule.most
        if is_full and (rule.most == 0 or now_s - self._at_s[0] <= rule.window_s):
            return GivenUp(why=f"{how}, after {rule.most} restarts in {rule.window_s:g} s")
        if lived_s > rule.longest_s:
            self._in_a_row = 0
        # Two to the power of some thousand restarts is no float.
        pause_s = min(rule.longest_s, rule.first_s * 2.0 ** min(self._in_a_row, 32))
        self._in_a_row += 1
        self._at_s.append(now_s)
        self.count += 1
        return Again(pause_s=pause_s)


def told(exit_code: int) -> str:
    """Write how a process ended: `ended with exit 1`, `was ended by signal 9`."""
    if exit_code < 0:
        return f"was ended by signal {-exit_code}"
    return f"ended with exit {exit_code}"
