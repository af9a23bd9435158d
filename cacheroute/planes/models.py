"""`GET /v1/models`: what the pool serves, each card as an Instance wrote it."""

from collections.abc import Callable, Iterable

import msgspec

from cacheroute.core.model_cards import ModelCards

Declared = Iterable[tuple[str, Iterable[str]]]


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
