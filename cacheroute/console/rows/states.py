"""How an Instance is, in a word, a sign and a colour, in this order of importance."""

from typing import Literal

from cacheroute.console.columns import Tone

Liveness = Literal["alive", "stale", "dead"]
Shown = Literal["alive", "drain", "ejected", "stale", "dead"]

SIGNS: dict[Shown, str] = {
    "alive": "●",
    "drain": "■",
    "ejected": "▲",
    "stale": "◐",
    "dead": "✕",
}
TONES: dict[Shown, Tone] = {
    "alive": "good",
    "drain": "warn",
    "ejected": "warn",
    "stale": "warn",
    "dead": "bad",
}
RANKS: dict[Shown, int] = {"alive": 0, "drain": 1, "ejected": 2, "stale": 3, "dead": 4}
"""The order of `--sort state`: who takes work first."""

STATE_DOC = (
    "alive, stale (silent for up to three times its time to live) or dead; of those alive, "
    "drain (takes no new work) or ejected (failed lately, and rests)."
)

_STALE_TTLS = 3


def liveness_of(
    *, is_alive: bool, said: str | None, age_s: float | None, ttl_s: int | None
) -> Liveness:
    """Tell alive, stale and dead apart, also for a Proxy that only tells alive from not."""
    if is_alive:
        return "alive"
    if said in ("stale", "dead"):
        return "stale" if said == "stale" else "dead"
    if age_s is None or ttl_s is None:
        return "dead"
    return "stale" if age_s <= _STALE_TTLS * ttl_s else "dead"


def shown_state(liveness: Liveness, *, draining: bool, ejected_for_s: float) -> Shown:
    """Return the one word that matters most."""
    if liveness == "alive" and draining:
        return "drain"
    return "ejected" if liveness == "alive" and ejected_for_s > 0 else liveness
