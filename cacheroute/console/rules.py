"""The thresholds of alerts and of colours."""

from dataclasses import dataclass
from typing import Literal

from cacheroute.console.columns import Tone

Level = Literal["fine", "warn", "bad"]

TONES: dict[Level, Tone] = {"fine": "plain", "warn": "warn", "bad": "bad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Two thresholds of one measure."""

    warn: float
    bad: float

    def level(self, value: float | None) -> Level:
        """Return on which side of the thresholds a value is; an unknown one is fine."""
        if value is None or value < self.warn:
            return "fine"
        return "warn" if value < self.bad else "bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """All thresholds, as `[alerts]` of the configuration sets them."""

    skew_ratio: float = 1.5
    """An Instance with more than so many times the median inflight is skewed …"""
    skew_min: float = 3
    """… if it has at least so many requests more."""
    gpu: Limits = Limits(warn=75, bad=95)
    """Average GPU use, in percent."""
    mem: Limits = Limits(warn=80, bad=92)
    """Host memory use, in percent."""
    report_age_s: float = 10
    """Age from which a resource report says little about now."""
    backlog_ms: float = 5_000
    """Predicted wait of a new request."""
    probe_s: float = 90
    """Time for which an Instance from the settings answers no probe."""
    hung_s: float = 60
    """Time for which an Instance answers nothing while requests wait for it."""
    kdn_s: float = 10
    """Time for which a knowledge node has answered none of those who asked it."""
    ttft_ratio: float = 1.5
    """A time to first token (p95) of more than so many times the median of the others is slow."""


RULES = Rules()
"""The defaults."""
