"""How an Instance is, in a word, a sign and a colour, in this order of importance."""

from typing import Literal

from cacheroute.console.columns import Tone

Liveness = Literal["alive", "stale", "dead"]
Shown = Literal["alive", "silent", "drain", "ejected", "stale", "dead"]

SIGNS: dict[Shown, str] = {
    "alive": "●",
    "silent": "○",
    "drain": "■",
    "ejected": "▲",
    "stale": "◐",
    "dead": "✕",
}
TONES: dict[Shown, Tone] = {
    "alive": "good",
    "silent": "warn",
    "drain": "warn",
    "ejected": "warn",
    "stale": "warn",
    "dead": "bad",
}
RANKS: dict[Shown, int] = {
    "alive": 0, "silent": 1, "drain": 2, "ejected": 3, "stale": 4, "dead": 5,
}  # fmt: skip
"""The order of `--sort state`: who takes work first."""

STATE_DOC = (
    "alive, stale (unheard of for up to three times its time to live) or dead; of those alive, "
    "drain (takes no new work), ejected (failed lately, and rests) or silent (from the settings, "
    "and answers no probe)."
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
