"""One thing that was looked at, and how it is printed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cacheroute.console.columns import Tone
from cacheroute.console.lines import Line

Verdict = Literal["ok", "warn", "bad"]
SCHEMA = "cacheroute.doctor/1"
_TONES: Mapping[Verdict, Tone] = {"ok": "good", "warn": "warn", "bad": "bad"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    """At most nine letters."""
    verdict: Verdict
    sentence: str
    way_out: str | None = None
    """What to do about it."""


def ok(name: str, sentence: str) -> Check:
    """Build a check that found all well."""
    return Check(name=name, verdict="ok", sentence=sentence)


def warn(name: str, sentence: str, way_out: str | None = None) -> Check:
    """Build a check that found what may become trouble."""
    return Check(name=name, verdict="warn", sentence=sentence, way_out=way_out)


def bad(name: str, sentence: str, way_out: str | None = None) -> Check:
    """Build a check that found what does not work."""
    return Check(name=name, verdict="bad", sentence=sentence, way_out=way_out)


def lines_of(checks: Iterable[Check]) -> list[Line]:
    """Write each check as a line, and its way out below it."""
    lines = []
    for check in checks:
        for at, part in enumerate(check.sentence.splitlines() or [""]):
            verdict = f"{check.verdict:<4}" if at == 0 else " " * 4
            tone = _TONES[check.verdict] if at == 0 else "plain"
            label = check.name if at == 0 else ""
            lines.append(Line(label=label, facts=(verdict, part), tone=tone))
        if check.way_out:
            lines.append(Line(label="", facts=(" " * 4, f"→ {check.way_out}")))
    return lines


def is_well(checks: Sequence[Check]) -> bool:
    """Whether nothing is bad; warnings do not count."""
    return all(check.verdict != "bad" for check in checks)
