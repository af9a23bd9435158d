"""Which texts speak of what a question asks: the share of its rare words that they have.

A word counts for as much as it tells texts apart, so one that every text has counts for
next to nothing. No model, no stemming: the same texts and question always give the same order.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MAX_QUESTION_WORDS = 1024
"""Further words of a question are not looked at; what is asked stands at its end."""

_WORD = re.compile(r"\w+")
_GLUE = (
    "a about all an and any are as at be been but by can did do does for from had has have how i "
    "if in into is it its me my no not of on or our please so tell that the their them then there "
    "these they this to us was we were what when where which who why will with would you your"
)
_EMPTY = frozenset(_GLUE.split())
"""Words of English that say nothing of the matter, even where few texts have them."""


@dataclass(frozen=True, slots=True)
class Match:
    """One text that fits."""

    text_id: str
    score: float
    """Share of the weight of the question's words that the text has, above 0 and up to 1."""


def words_of(text: str) -> list[str]:
    """Return the words that count, in order."""
    return [word for word in _WORD.findall(text.lower()) if word not in _EMPTY]


class Lexicon:
    """An index of some texts, made once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._count = len(texts)
        self._holders: dict[str, list[str]] = {}
        for text_id in sorted(texts):
            for word in set(words_of(texts[text_id])):
                self._holders.setdefault(word, []).append(text_id)

    def best(self, question: str, count: int) -> list[Match]:
        """Return the texts that fit best, the best first; none that shares no word."""
        asked = set(words_of(question)[-MAX_QUESTION_WORDS:])
        weights = {word: self._weight(word) for word in sorted(asked)}
        total = math.fsum(weights.values())
        shares: dict[str, float] = {}
        for word, weight in weights.items():
            for text_id in self._holders.get(word, ()):
                shares[text_id] = shares.get(text_id, 0.0) + weight / total
        return _first(shares.items(), count)

    def _weight(self, word: str) -> float:
        """Return the inverse document frequency of Okapi BM25, which is never negative."""
        holders = len(self._holders.get(word, ()))
        return math.log(1 + (self._count - holders + 0.5) / (holders + 0.5))


def _first(shares: Iterable[tuple[str, float]], count: int) -> list[Match]:
    ranked = sorted(shares, key=lambda item: (-item[1], item[0]))
    return [Match(text_id, min(1.0, share)) for text_id, share in ranked[:count]]
