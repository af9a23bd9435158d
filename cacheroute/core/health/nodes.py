"""How each knowledge node answered when it was asked last: what requests saw of it.

Nobody probes a node, and nobody is kept from one that fails. A node that was never asked is
unknown, neither well nor ill.
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

MAX_NODES = 1_024
"""Nodes that are remembered; the one that was asked longest ago goes first."""
_WHY_CHARS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHealth:
    """One node."""

    answers: bool
    """Whether it answered the last question."""
    since_mono_s: float
    """Since when that is so, on the monotonic clock."""
    asked_mono_s: float
    """When it was asked last."""
    error: str | None = None
    """What went wrong last, in a sentence; None when it answered."""


class Nodes:
    """Every node that was asked, by its `host:port`."""

    __slots__ = ("_nodes", "version")

    def __init__(self) -> None:
        self._nodes: OrderedDict[str, NodeHealth] = OrderedDict()
        self.version = 0
        """Moves with every question."""

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def of(self, address: str) -> NodeHealth | None:
        """Return how a node answered last; None when it was not asked, or too long ago."""
        return self._nodes.get(address)

    def answered(self, address: str, now_mono_s: float) -> None:
        """It told what it was asked."""
        self._note(address, now_mono_s, None)

    def failed(self, address: str, why: str, now_mono_s: float) -> None:
        """It could not be reached, was too slow, or made no sense; `why` is a sentence."""
        self._note(address, now_mono_s, why[:_WHY_CHARS])

    def _note(self, address: str, now_mono_s: float, error: str | None) -> None:
        before = self._nodes.get(address)
        answers = error is None
        is_same = before is not None and before.answers == answers
        self._nodes[address] = NodeHealth(
            answers=answers,
            since_mono_s=before.since_mono_s if before and is_same else now_mono_s,
            asked_mono_s=now_mono_s,
            error=error,
        )
        self._nodes.move_to_end(address)
        if len(self._nodes) > MAX_NODES:
            self._nodes.popitem(last=False)
        self.version += 1
