"""What became of the knowledge that was asked for, piece by piece, and the text it makes.

Pieces with KV stand in front. KV is hit from the first token on or not at all, and each
piece's KV was built on its own, so only the first piece's KV is ever of use.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeItem:
    """One piece, as the knowledge node returned it."""

    id: str
    """As returned; it matches what was asked for without regard to case."""
    content: str
    """Its text; empty where the node has none."""
    kv_ready: bool
    """Whether the node has its KV."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """The pieces by what can be done with them; ids as they were requested, each once."""

    kv_ready: tuple[str, ...] = ()
    """There as text and as KV."""
    text_only: tuple[str, ...] = ()
    """There as text."""
    miss: tuple[str, ...] = ()
    """Not there."""
    context: str = ""
    """All text, pieces with KV first: what is put in front of the prompt."""
    prefix_kids: tuple[str, ...] = ()
    """The one piece whose KV can be hit, as requested: worth injecting, the others are not."""
    prefix_characters: int = 0
    """Length of its text."""

    @property
    def text_kids(self) -> tuple[str, ...]:
        """All pieces that are there, in the order of the context: text where KV fails."""
        return self.kv_ready + self.text_only


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeTokens:
    """How much knowledge was really put in front of a prompt."""

    total: int
    """Tokens of the whole context; 0 when nothing was found."""
    reusable: int
    """Tokens of it whose KV can be hit."""


def classify(
    requested_ids: Sequence[str], items: Iterable[KnowledgeItem], missing: Iterable[str]
) -> Classified:
    """Sort the requested ids; what the node calls missing is missing, whatever else it says."""
    gone = {_key(kid) for kid in missing}
    found: dict[str, KnowledgeItem] = {}
    for item in items:
        found.setdefault(_key(item.id), item)
    ready: list[tuple[str, str]] = []
    plain: list[tuple[str, str]] = []
    miss: list[str] = []
    for key, kid in distinct(requested_ids).items():
        piece = found.get(key)
        if piece is None or key in gone:
            miss.append(kid)
        else:
            (ready if piece.kv_ready else plain).append((kid, normalised(piece.content)))
    texts = [(kid, text) for kid, text in ready + plain if text]
    first = next(((kid, text) for kid, text in ready if text), None)
    return Classified(
        kv_ready=tuple(kid for kid, _ in ready),
        text_only=tuple(kid for kid, _ in plain),
        miss=tuple(miss),
        context="\n".join(text for _, text in texts),
        prefix_kids=(first[0],) if first else (),
        prefix_characters=len(first[1]) if first else 0,
    )


def count_tokens(classified: Classified, knowledge_tokens: int | None) -> KnowledgeTokens:
    """Share the Scheduler's count of all requested pieces out to those that were found.

    The count is of the whole, so each piece is taken to be an equal part of it; without a
    count it is four characters to a token.
    """
    there = len(classified.text_kids)
    if not classified.context:
        return KnowledgeTokens(total=0, reusable=0)
    if knowledge_tokens:
        total = knowledge_tokens * there // (there + len(classified.miss))
    else:
        total = max(1, len(classified.context) // CHARACTERS_PER_TOKEN)
    reusable = total * classified.prefix_characters // len(classified.context)
    return KnowledgeTokens(total=total, reusable=reusable)


def distinct(ids: Iterable[str]) -> dict[str, str]:
    """Return each id once, as it was first written, by the form in which ids are compared."""
    first: dict[str, str] = {}
    for kid in ids:
        first.setdefault(_key(kid), kid)
    return first


def normalised(content: str) -> str:
    """Return the text as its KV was built from: Unix line ends, no space around it."""
    return content.replace("\r\n", "\n").strip()


def _key(kid: str) -> str:
    return kid.strip().lower()
