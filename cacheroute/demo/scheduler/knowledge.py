"""What the knowledge nodes hold, and which of it goes before a prompt.

A Request names one knowledge node, so all of its texts come from one: the node with the best
match, or the one that holds most of the ids that were asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from cacheroute.core.errors import CapacityError
from cacheroute.demo import tokens
from cacheroute.demo.scheduler.ask import Ask
from cacheroute.demo.scheduler.lexicon import Lexicon
from cacheroute.formats.address import Address


class NoKnowledgeNode(CapacityError):
    """Knowledge was asked for, and there is nobody to have it from."""

    code = "no_kdn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The knowledge for one prompt."""

    ids: tuple[str, ...] = ()
    """Lower-case, the best first."""
    tokens: int = 0
    """Tokens of those texts together, as far as they are known."""
    kdn_address: str = ""
    """`host:port` of the node that has them; empty when none is needed."""


NOTHING = Found()


@dataclass(frozen=True, slots=True)
class Shelf:
    """The texts of one knowledge node, as they were read last."""

    lexicon: Lexicon
    tokens: Mapping[str, int]
    """Length of each text, by its id."""

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Self:
        """Index some texts, which for a thousand long ones takes the better part of a second."""
        lengths = {text_id: tokens.count(tokens.encode(texts[text_id])) for text_id in texts}
        return cls(Lexicon(texts), lengths)


class Library:
    """Every knowledge node, with what was read of it."""

    def __init__(self, addresses: Iterable[Address], top_k: int) -> None:
        self._addresses = tuple(addresses)
        self._top_k = top_k
        self._shelves: dict[Address, Shelf] = {}

    def put(self, address: Address, shelf: Shelf) -> None:
        """Replace what is known of one node."""
        self._shelves[address] = shelf

    def find(self, ask: Ask) -> Found:
        """Return the knowledge for a request; raises NoKnowledgeNode."""
        if not ask.wants_knowledge:
            return NOTHING
        if not self._addresses:
            raise NoKnowledgeNode(
                "RAG was asked for, and this Scheduler knows no knowledge node (--kdn HOST:PORT)."
            )
        if ask.knowledge_ids is not None:
            return self._named(ask.knowledge_ids)
        if not self._shelves:
            named = ", ".join(address.authority for address in self._addresses)
            raise NoKnowledgeNode(
                f"RAG was asked for, and no knowledge node has shown its texts yet ({named}).",
                retry_after_s=1.0,
            )
        return self._best(ask.question)

    def _best(self, question: str) -> Found:
        best, top_score = NOTHING, 0.0
        for address, shelf in self._known():
            matches = shelf.lexicon.best(question, self._top_k)
            if matches and matches[0].score > top_score:
                top_score = matches[0].score
                best = _found(tuple(match.text_id for match in matches), address, shelf)
        return best

    def _named(self, ids: tuple[str, ...]) -> Found:
        # Texts that were registered since the last reading are known to the node alone.
        best, most = Found(ids=ids, kdn_address=self._addresses[0].authority), 0
        for address, shelf in self._known():
            held = sum(one in shelf.tokens for one in ids)
            if held > most:
                most = held
                best = _found(ids, address, shelf)
        return best

    def _known(self) -> Iterable[tuple[Address, Shelf]]:
        return ((one, self._shelves[one]) for one in self._addresses if one in self._shelves)


def _found(ids: tuple[str, ...], address: Address, shelf: Shelf) -> Found:
    length = sum(shelf.tokens.get(one, 0) for one in ids)
    return Found(ids=ids, tokens=length, kdn_address=address.authority)
