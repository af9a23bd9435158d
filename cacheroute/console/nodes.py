"""Knowledge nodes as the Proxy saw them: whether they answer, and what waits to be sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cacheroute.wire.console_columns import spread

if TYPE_CHECKING:
    from cacheroute.wire.console import KdnNodes
    from cacheroute.wire.debug import StatusReply

NodeState = Literal["answers", "fails", "not asked"]

SIGNS: Mapping[NodeState, str] = {"answers": "●", "fails": "▲", "not asked": "○"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One knowledge node."""

    name: str
    """Its `host:port`, or the bare name that a link was reported under."""
    answers: bool | None
    """Whether it answered when it was asked last; None when it never was."""
    state_age_s: float | None
    """For how long that is so."""
    asked_age_s: float | None
    error: str | None
    """What went wrong last; None when it answered."""
    running: int = 0
    """Links on which it is sending KV."""
    waiting: int = 0
    """Transfers that are predicted to begin behind those."""
    bandwidth_mbps: float | None = None
    """Of the best link to it."""
    latency_ms: float | None = None

    @property
    def state(self) -> NodeState:
        """How it is, in a word or two."""
        if self.answers is None:
            return "not asked"
        return "answers" if self.answers else "fails"


def nodes_of(told: KdnNodes | None, passed_s: float) -> Mapping[str, Node] | None:
    """Read the columns, so many seconds later, by `node_name`; None where nobody tells."""
    if told is None:
        return None
    count = len(told.nodes)
    columns = (
        told.answers, told.state_age_s, told.asked_age_s, told.error, told.running, told.waiting,
        told.bandwidth_mbps, told.latency_ms,
    )  # fmt: skip
    return {
        node_name(name): Node(
            name=name,
            answers=answers,
            state_age_s=None if state_age_s is None else state_age_s + passed_s,
            asked_age_s=None if asked_age_s is None else asked_age_s + passed_s,
            error=error,
            running=running or 0,
            waiting=waiting or 0,
            bandwidth_mbps=bandwidth_mbps,
            latency_ms=latency_ms,
        )
        for name, answers, state_age_s, asked_age_s, error, running, waiting, bandwidth_mbps,
        latency_ms in zip(told.nodes, *(spread(column, count) for column in columns), strict=True)
    }  # fmt: skip


def failing_of(status: StatusReply) -> list[Node]:
    """Return the nodes of which a Proxy tells that they fail."""
    return [
        Node(
            name=one.node,
            answers=False,
            state_age_s=one.failing_s,
            asked_age_s=one.asked_age_s,
            error=one.error,
        )
        for one in status.kdn_failing
    ]


def node_name(kdn: str) -> str:
    """Return what a node is known by, whatever key a link to it was reported under."""
    return kdn.strip().lower().rpartition("://")[2].removesuffix("/")
