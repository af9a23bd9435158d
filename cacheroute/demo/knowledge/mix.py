"""Questions about knowledge of mixed length, and when they are asked: all from one seed.

Each question has a text of its own, so that no cache but the knowledge node's can help.
Lengths are spread evenly over a logarithmic scale: as many texts of 100 to 500 tokens as of
500 to 2,500. Arrivals are a Poisson process.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from cacheroute.demo import tokens
from cacheroute.demo.kdn.content import kid_of

SHORTEST_TOKENS = 100
LONGEST_TOKENS = 2500
PROMPT_TOKENS = (12, 48)
"""Shortest and longest question, without its knowledge."""

_PROSE = (
    "pump valve seal motor shaft belt gear lamp fuse wire relay panel sensor filter tank hose "
    "gauge lever spring bolt nut washer plate frame wheel brake clutch piston rotor stator "
    "before after during unless while until below above beside between opens closes turns stops "
    "starts holds fills drains heats cools clean dry slow fast left right upper lower first last "
    "never always often seldom twice daily weekly yearly check replace tighten loosen measure"
)
_WORDS = _PROSE.split()
_SHORTEST_WORD = min(map(len, _WORDS)) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request to be."""

    number: int
    arrives_s: float
    """Seconds after the first one, at the speed of a real GPU."""
    prompt: str
    text: str
    """The knowledge that it is about."""
    text_tokens: int
    kid: str
    """The id of that text at every knowledge node."""


def make_questions(
    count: int, *, seed: int, per_second: float, shortest_tokens: int = SHORTEST_TOKENS
) -> tuple[Question, ...]:
    """Make so many questions, `per_second` of them on average."""
    chance = random.Random(seed)
    lengths = spread(count, shortest_tokens)
    chance.shuffle(lengths)
    questions = []
    arrives_s = 0.0
    for number, length in enumerate(lengths, start=1):
        text = prose(length, chance)
        questions.append(
            Question(
                number=number,
                arrives_s=arrives_s,
                prompt=prose(chance.randint(*PROMPT_TOKENS), chance),
                text=text,
                text_tokens=length,
                kid=kid_of(text),
            )
        )
        arrives_s += chance.expovariate(per_second)
    return tuple(questions)


def spread(count: int, shortest_tokens: int = SHORTEST_TOKENS) -> list[int]:
    """Return so many lengths in tokens, evenly over the logarithmic scale."""
    ratio = LONGEST_TOKENS / shortest_tokens
    return [round(shortest_tokens * ratio ** ((n + 0.5) / count)) for n in range(count)]


def prose(length_tokens: int, chance: random.Random) -> str:
    """Return a text of exactly so many tokens that nobody has written before."""
    chars = length_tokens * tokens.TOKEN_BYTES
    words = chance.choices(_WORDS, k=chars // _SHORTEST_WORD + 1)
    return " ".join(words)[: chars - 1] + "."


def duration_s(questions: Sequence[Question]) -> float:
    """Return how long it takes to ask them all, at the speed of a real GPU."""
    return questions[-1].arrives_s if questions else 0.0
