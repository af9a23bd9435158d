"""What is asked of an Instance to learn its speed, and in which order.

Prompts are words nobody has sent before, so no prefix of them is in a cache; sizes come in
rounds, each in an order of its own, so that what drifts with time does not look like size.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

DEFAULT_LENGTHS = (32, 64, 96, 192, 384, 768, 1536, 3072)
"""Tokens; short prompts are where a line is wrong first."""
DEFAULT_SAMPLES = 4
DEFAULT_TIME_LIMIT_S = 300.0
MAX_REQUESTS = 1000
WARM_UPS = (16, 16, 160)
"""Words of the first prompts: they warm the engine up and tell how it counts."""
_GROUP_TOKENS = 64
_GROUPS_OF = 4
"""Requests of each batch size that decode together: four of one, or two of two."""

_TEXT = (
    "air arm art bag bed bird book box boy bread bus car cat city cloud cup day desk dog door "
    "ear egg eye farm fish food foot game gold hand hat head hill home horse ice king lake "
    "land leg light line map milk moon name night oil page park rain ring river road rock "
    "room salt sand sea ship shop sky snow song star stone sun table tea tree wall water wind"
)
_WORDS = tuple(_TEXT.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """Requests that are sent at the same time."""

    tokens: int
    """How long each prompt is to be."""
    context_tokens: int = 0
    """Tokens in front of it that are to be in the cache already."""
    batch: int = 1
    """How many at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured."""

    lengths: tuple[int, ...] = DEFAULT_LENGTHS
    """Tokens of the prompts."""
    samples: int = DEFAULT_SAMPLES
    """Requests of each length."""
    contexts: tuple[int, ...] = ()
    """Each length is also measured behind so many tokens that are in the cache."""
    batches: tuple[int, ...] = (2, 4)
    """How many decode together, besides one at a time; empty leaves these out."""
    answer_tokens: int = 16
    """Tokens of each answer: the time of those after the first is what a token takes."""
    time_limit_s: float = DEFAULT_TIME_LIMIT_S
    """After so many seconds no more is sent, and what is under way is given up."""
    request_limit_s: float = 120.0
    """Longest wait for one answer."""
    seed: int = 0
    """Another one makes other prompts; one that was used may find them in a cache."""

    @property
    def requests(self) -> int:
        """Return how many requests it takes, warming up included."""
        sizes = len(self.lengths) * (1 + len(self.contexts))
        grouped = sum(shot.batch for shot in self._groups())
        return len(WARM_UPS) + len(self.contexts) + sizes * self.samples + grouped

    def shots(self, chance: random.Random) -> Iterator[Shot]:
        """Yield what to send, one after the other."""
        sizes = [
            Shot(tokens=tokens, context_tokens=context)
            for tokens in self.lengths
            for context in (0, *self.contexts)
        ]
        groups = self._groups()
        for number in range(self.samples):
            shots = [*sizes, *groups[number :: self.samples]]
            chance.shuffle(shots)
            yield from shots

    def _groups(self) -> list[Shot]:
        tokens = min(self.lengths, key=lambda length: abs(length - _GROUP_TOKENS))
        return [
            Shot(tokens=tokens, batch=batch)
            for batch in self.batches
            for _ in range(max(1, _GROUPS_OF // batch))
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """How an engine counts our words: a line through two prompts."""

    tokens_per_word: float
    template_tokens: float
    """What stands around every prompt."""

    @classmethod
    def of(cls, small: tuple[int, int], large: tuple[int, int]) -> "Counting":
        """Draw the line through (words, tokens) of two prompts."""
        words = large[0] - small[0]
        per_word = max(0.25, (large[1] - small[1]) / words) if words else 1.0
        return cls(
            tokens_per_word=per_word,
            template_tokens=max(0.0, small[1] - per_word * small[0]),
        )

    def words(self, tokens: float) -> int:
        """Return how many words make a prompt of so many tokens, template included."""
        return max(1, round((tokens - self.template_tokens) / self.tokens_per_word))

    def context_words(self, tokens: int) -> int:
        """Return how many words make so many tokens by themselves."""
        return max(1, round(tokens / self.tokens_per_word))


def words(count: int, chance: random.Random) -> str:
    """Return so many words in an order that has not been before."""
    return " ".join(chance.choices(_WORDS, k=count))
