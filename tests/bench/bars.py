"""What a measurement is expected to stay within, and whether it did.

A missed bar is shown, never hidden, and never fails a run: times depend on the machine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One expectation."""

    what: str
    value: float
    limit: float
    unit: str = ""
    at_least: bool = False
    """Whether more is better."""

    @property
    def is_met(self) -> bool:
        """Whether the value is within the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def in_words(self) -> str:
        """Say what was expected and what was found."""
        bound = "at least" if self.at_least else "at most"
        verdict = "met   " if self.is_met else "MISSED"
        found, limit = f"{self.value:.4g}{self.unit}", f"{self.limit:.4g}{self.unit}"
        return f"{verdict}  {self.what}: {found}, {bound} {limit}"


NGINX_RATIO = {"json2k": 2.7, "spaced": 1.3}
"""CPU time over that of nginx, by load."""
DELIVERED_RATIO = 0.99
MEMORY_MB = 70.0
START_S = 1.0


def of_table(result: dict[str, Any]) -> list[Bar]:
    """Return the bars of the table, for our own rows."""
    found = []
    for name, row in result["rows"].items():
        if not row["is_ours"]:
            continue
        for load, cell in row["loads"].items():
            ratio = cell["ratio"].get("nginx")
            if load in NGINX_RATIO and ratio is not None:
                what = f"{name}, {load}, CPU over nginx"
                limit = NGINX_RATIO[load]
                found.append(Bar(what=what, value=ratio["median"], limit=limit, unit="x"))
            if "delivered_ratio" in cell:
                found.append(
                    Bar(
                        what=f"{name}, {load}, events delivered",
                        value=100 * cell["delivered_ratio"]["median"],
                        limit=100 * DELIVERED_RATIO,
                        unit="%",
                        at_least=True,
                    )
                )
        memory_mb, start_s = row["memory_mb"], row["start_s"]
        found += [
            Bar(
                what=f"{name}, memory after all loads", value=memory_mb, limit=MEMORY_MB, unit=" MB"
            ),
            Bar(what=f"{name}, start to first 200", value=start_s, limit=START_S, unit=" s"),
        ]
    return found


def in_words(bars: Sequence[Bar]) -> str:
    """Write one line per bar."""
    return "\n".join(bar.in_words() for bar in bars)
