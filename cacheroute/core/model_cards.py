"""The model lists of all Instances as one list, each card as its Instance wrote it."""

from collections.abc import Iterable, Mapping

Card = Mapping[str, object]

MAX_CARDS = 1024
"""Most cards kept of one Instance."""


class ModelCards:
    """What `/v1/models` of each Instance said last."""

    def __init__(self) -> None:
        self._cards: dict[str, tuple[Card, ...]] = {}

    def put(self, instance_id: str, cards: Iterable[Card]) -> frozenset[str]:
        """Keep an Instance's cards; return the names on them. One without a name is left out."""
        kept = tuple(card for card in cards if _name(card) is not None)[:MAX_CARDS]
        self._cards[instance_id] = kept
        return frozenset(str(card["id"]) for card in kept)

    def drop(self, instance_id: str) -> None:
        """Forget an Instance that has left."""
        self._cards.pop(instance_id, None)

    def merged(self, alive: Iterable[tuple[str, Iterable[str]]]) -> list[Card]:
        """Return one card per model over the alive Instances, given with the names they declared.

        The first Instance that has a card for a model is quoted. What an Instance declared
        counts only while it has listed nothing, and gets the least a card must have.
        """
        found: dict[str, Card] = {}
        bare: list[str] = []
        for instance_id, declared in alive:
            cards = self._cards.get(instance_id)
            if cards is None:
                bare.extend(sorted(declared))
                continue
            for card in cards:
                found.setdefault(str(card["id"]), card)
        for name in bare:
            found.setdefault(
                name, {"id": name, "object": "model", "created": 0, "owned_by": "cacheroute"}
            )
        return list(found.values())


def _name(card: Card) -> str | None:
    name = card.get("id")
    return name if isinstance(name, str) and 0 < len(name) <= 512 else None
