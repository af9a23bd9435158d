"""The three ways that are compared: who decides how knowledge is brought in, and what for."""

from dataclasses import dataclass

from cacheroute.core.injection.strategies import DEFAULT, IWS
from cacheroute.core.task import KVCACHE, TEXT


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way."""

    name: str
    mode: str
    """What the Scheduler asks for."""
    strategy: str
    """Who decides at the Proxy: `default` does what the Scheduler asks for."""


ALWAYS_TEXT = Way(name="text", mode=TEXT, strategy=DEFAULT)
ALWAYS_KV = Way(name="kvcache", mode=KVCACHE, strategy=DEFAULT)
BY_FORECAST = Way(name="iws", mode=KVCACHE, strategy=IWS)

WAYS = (ALWAYS_TEXT, ALWAYS_KV, BY_FORECAST)
