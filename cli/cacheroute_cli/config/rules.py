"""The thresholds of alerts as the configuration has them, for whoever judges a pool."""

from collections.abc import Mapping
from typing import Any

from cacheroute.console.rules import Limits, Rules

TABLE = "alerts"


def rules_of(said: Mapping[str, Any]) -> Rules:
    """Return the thresholds; `said` has them by their key in a file."""
    own = {key: value for key, value in said.items() if hasattr(Rules, key)}
    bands = {key: Limits(warn=v[0], bad=v[1]) for key, v in own.items() if isinstance(v, tuple)}
    return Rules(**{**own, **bands})
