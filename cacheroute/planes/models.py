"""What the pool serves: `GET /v1/models`, each card as an Instance wrote it, and the bare names."""

from collections.abc import Callable, Iterable

import msgspec

from cacheroute.core.model_cards import ModelCards
from cacheroute.core.pool_member import Member

Declared = Iterable[tuple[str, Iterable[str]]]

MAX_TOLD = 256
"""Most models that a Scheduler is told of: a heartbeat must stay a small message."""
_MAX_NAME_CHARS = 512


class ModelList:
    """The merged list of models over the alive Instances."""

    def __init__(self, alive: Callable[[], Declared], cards: ModelCards) -> None:
        self._alive = alive
        self._cards = cards

    def listing(self) -> bytes:
        """Write the whole list."""
        return msgspec.json.encode({"object": "list", "data": self._cards.merged(self._alive())})

    def card(self, name: str) -> bytes | None:
        """Write the card of one model; None when nobody alive serves it."""
        for card in self._cards.merged(self._alive()):
            if card["id"] == name:
                return msgspec.json.encode(card)
        return None


def told_models(alive: Iterable[Member]) -> list[str]:
    """Return the names that Instances list, or declare where they were never asked, sorted."""
    names: set[str] = set()
    for member in alive:
        listed = member.probed_models
        names |= (member.instance.models or frozenset()) if listed is None else listed
    return sorted(name for name in names if len(name) <= _MAX_NAME_CHARS)[:MAX_TOLD]
