"""The ways to choose an Instance that a Proxy has, and the change from one to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cacheroute.console.amounts import render_words
from cacheroute.console.columns import Column, Kind
from cacheroute.console.lines import Line

if TYPE_CHECKING:
    from cacheroute.wire.admin import StrategiesReply, StrategyReply


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyRow:
    """One strategy."""

    name: str
    aliases: list[str]
    summary: str
    routes: bool
    """Whether it is the one that routes now."""
    configured: bool
    """Whether it is the one that a restart brings back."""

    @property
    def use(self) -> str:
        """What it is used for, in a word."""
        if self.routes:
            return "routes"
        return "configured" if self.configured else ""


def rows_of(reply: StrategiesReply) -> list[StrategyRow]:
    """Return a row for each strategy, in the Proxy's order."""
    return [
        StrategyRow(
            name=row.name,
            aliases=row.aliases,
            summary=row.summary,
            routes=row.name == reply.strategy,
            configured=row.name == reply.configured,
        )
        for row in reply.known
    ]


STRATEGIES: Kind[StrategyRow] = Kind(
    name="strategy",
    noun="strategies",
    columns=(
        Column(
            key="name",
            header="NAME",
            text=lambda row: row.name,
            doc="What it is called, here and in the settings.",
        ),
        Column(
            key="use",
            header="USE",
            text=lambda row: row.use,
            tone=lambda row: "good" if row.routes else "plain",
            doc="routes (it chooses now), or configured (a restart of the Proxy brings it back).",
        ),
        Column(
            key="aliases",
            header="ALIASES",
            text=lambda row: render_words(row.aliases),
            doc="What else it may be called.",
        ),
        Column(
            key="summary",
            header="SUMMARY",
            text=lambda row: row.summary,
            gives_way=True,
            doc="How it chooses.",
        ),
    ),
    name_of=lambda row: row.name,
    searched=lambda row: f"{row.name} {row.summary}",
)


def change_lines(reply: StrategyReply) -> list[Line]:
    """Say what a change of the strategy does."""
    if not reply.changed:
        return [Line(label="strategy", facts=(reply.after, "no change"))]
    running = f"{reply.inflight} requests go on as placed"
    if reply.inflight < 2:
        running = "1 request goes on as placed" if reply.inflight else "no request runs"
    left = "1 Instance" if reply.left == 1 else f"{reply.left} Instances"
    return [
        Line(label="strategy", facts=(f"{reply.before} → {reply.after}",), tone="good"),
        Line(label="effect", facts=(running, f"the next ones go to {left}")),
    ]


def change_document(reply: StrategyReply, *, proxy_url: str) -> Mapping[str, object]:
    """Return the whole of `cacheroute.change/1` for a change of the strategy."""
    return {
        "proxy_url": proxy_url,
        "verb": "strategy",
        "kept": False,
        "left_count": reply.left,
        "left_ids": [],
        "left_resting": 0,
        "left_without": [],
        "waited_s": None,
        "strategy": {
            "before": reply.before,
            "after": reply.after,
            "changed": reply.changed,
            "inflight": reply.inflight,
        },
        "total": 0,
        "items": [],
    }
