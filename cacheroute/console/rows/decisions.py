"""Which Instance got which request, and why: the Proxy's own words, the newest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from cacheroute.console import cast
from cacheroute.console.amounts import instant_of
from cacheroute.console.cells import UNKNOWN
from cacheroute.console.columns import NAME_FLOOR, Column, Kind

if TYPE_CHECKING:
    from cacheroute.wire import decisions as wire
    from cacheroute.wire.decisions import DecisionsReply


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    """One selection."""

    seq: int
    at: datetime | None
    """When, by the Proxy's clock."""
    request_id: str
    attempt: int
    strategy: str
    model: str | None
    endpoint: str
    instance_id: str | None
    """None when nobody could be chosen."""
    cost: float | None
    runner_up: str | None
    runner_up_cost: float | None
    considered: int
    skipped: dict[str, int]
    """How many Instances were left out, by reason."""
    reason: str
    mode: str | None
    """How its knowledge is brought in; None for a request without any."""
    injection: dict[str, object] | None

    @property
    def why(self) -> str:
        """The reason without the name that it begins with, for a place beside that name."""
        return self.reason.removeprefix(f"{self.instance_id} ")


def decision_rows(decisions: DecisionsReply) -> list[DecisionRow]:
    """Return a row for each decision, as the Proxy orders them: newest first."""
    return [decision_row(one) for one in decisions.decisions]


def decision_row(one: wire.DecisionRow) -> DecisionRow:
    """Return one decision as a row."""
    return DecisionRow(
        seq=one.seq,
        at=instant_of(one.at),
        request_id=one.request_id,
        attempt=one.attempt,
        strategy=one.strategy,
        model=one.model,
        endpoint=one.endpoint,
        instance_id=one.instance_id,
        cost=one.cost,
        runner_up=one.runner_up,
        runner_up_cost=one.runner_up_cost,
        considered=one.considered,
        skipped=one.skipped,
        reason=one.reason,
        mode=_mode(one.injection),
        injection=one.injection,
    )


def _mode(injection: Mapping[str, object] | None) -> str | None:
    mode = None if injection is None else injection.get("injection_mode")
    return mode if isinstance(mode, str) else None


_NO_COST = "The strategy compares no costs."

COLUMNS: tuple[Column[DecisionRow], ...] = (
    cast.count("seq", "SEQ", "Number of the decision since the Proxy started.", wide=True),
    cast.clock("at", "AT", "When; on a terminal by the local clock.", source="the Proxy's clock"),
    cast.word("request_id", "REQUEST", "Name of the request.", aliases=("req",), gives_way=True,
        floor=NAME_FLOOR),
    cast.count("attempt", "TRY", "1 for the first Instance that was tried.", rank=2),
    cast.word(
        "instance_id", "INSTANCE", "Who got it.", unknown="Nobody could be chosen.", lacks=True,
        aliases=("id",), gives_way=True, floor=NAME_FLOOR,
        tone=lambda row: "bad" if row.instance_id is None else "plain",
    ),
    cast.score(
        "cost", "COST", "What it was chosen by; lower wins.", unknown=_NO_COST, lacks=True,
        aliases=("score",),
    ),
    cast.word(
        "runner_up", "NEXT", "Who came next.", unknown="There was no other candidate.", lacks=True,
        gives_way=True, rank=1,
    ),
    cast.score("runner_up_cost", "NEXT COST", "The cost of the one that came next.",
        unknown=_NO_COST, lacks=True, rank=1),
    cast.count("considered", "OF", "How many could have been chosen.", rank=2),
    cast.word("strategy", "STRATEGY", "Who chose.", rank=3),
    cast.word("model", "MODEL", "The model that was asked for.", unknown="None was named.",
        lacks=True,
        gives_way=True, wide=True),
    cast.word("endpoint", "ENDPOINT", "What was asked of it.", wide=True),
    Column(
        key="skipped",
        header="SKIPPED",
        text=lambda row: ", ".join(f"{n} {why}" for why, n in row.skipped.items()) or UNKNOWN,
        doc="How many Instances were left out, by reason.",
        unknown="None was left out.", lacks=True,
        wide=True,
    ),
    cast.word("mode", "KNOWLEDGE", "How its knowledge is brought in.",
        unknown="It names no knowledge.", lacks=True, spare=True),
    cast.word("reason", "WHY", "The decision in a sentence.", source="the Proxy",
        text=lambda row: row.why, gives_way=True, floor=40),
)  # fmt: skip

DECISIONS: Kind[DecisionRow] = Kind(
    name="decisions",
    noun="decisions",
    columns=COLUMNS,
    name_of=lambda row: row.request_id,
    searched=lambda row: f"{row.request_id} {row.instance_id or ''} {row.model or ''}",
)
