"""Real conversations in small: a slice of a public trace, and prompts rebuilt from it.

`trace.jsonl` is cut from the Mooncake conversation trace (kvcache-ai/Mooncake, FAST'25
release, Apache-2.0): 302 requests of 62 whole conversations of 4 to 12 turns each, from its
first 30 minutes, with prompts of at most 24 blocks. A trace holds no text, only the id of each
512-token block of a prompt; equal ids mean equal blocks, so equal ids become equal text here.
"""

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TRACE_BLOCK_TOKENS = 512
"""Tokens that one block id stands for in the trace."""
CHARS_PER_TOKEN = 4
"""What an English token is worth in characters, near enough for every common tokeniser."""
TRACE_FILE = Path(__file__).with_name("trace.jsonl")

_PROSE = (
    "the and for you not are but can has had was one all new use way may day man get see him two "
    "how its our out who did yes let put say she too old any this that with from have more will "
    "each time when work part like then them some into over such only also back good most very "
    "even life made long year many much both while where after never again under right about "
    "could first might still every other their would there which think place great point world "
    "house small found those water light story cause paper money state group"
)
_WORDS = _PROSE.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRequest:
    """One line of the trace."""

    arrives_ms: int
    """Milliseconds since the trace began."""
    input_tokens: int
    output_tokens: int
    blocks: tuple[int, ...]
    """Ids of the prompt's blocks, in order; the last one may be only partly filled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much smaller than in the trace the replayed requests are.

    Every block shrinks by the same factor, so the share of a prompt that was seen before
    stays what it is in the trace, at a fraction of the bytes.
    """

    block_tokens: int = 384
    """Tokens a whole block becomes."""
    output_ratio: float = 1 / 8
    """Tokens to generate for each one in the trace."""
    output_cap_tokens: int = 96
    """Longest answer asked for."""

    def prompt_tokens(self, request: TraceRequest) -> int:
        """Tokens of the prompt after scaling; at least one."""
        return max(1, request.input_tokens * self.block_tokens // TRACE_BLOCK_TOKENS)

    def answer_tokens(self, request: TraceRequest) -> int:
        """Tokens of the answer after scaling; at least one."""
        return max(1, min(self.output_cap_tokens, round(request.output_tokens * self.output_ratio)))


def parse_trace(lines: Iterable[str]) -> list[TraceRequest]:
    """Read trace lines; raises ValueError that names the line which is not one."""
    requests = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            request = TraceRequest(
                arrives_ms=int(row["timestamp"]),
                input_tokens=int(row["input_length"]),
                output_tokens=int(row["output_length"]),
                blocks=tuple(int(block) for block in row["hash_ids"]),
            )
        except (ValueError, KeyError, TypeError) as problem:
            raise ValueError(f"line {number} is not a trace request: {problem!r}") from problem
        requests.append(request)
    return requests


def shipped_trace() -> list[TraceRequest]:
    """Return the slice that comes with the package, in order of arrival."""
    with TRACE_FILE.open(encoding="ascii") as lines:
        return parse_trace(lines)


@lru_cache(maxsize=4096)
def block_text(block: int, tokens: int) -> str:
    """Words for one block: the same id gives the same text, `CHARS_PER_TOKEN` per token."""
    length = tokens * CHARS_PER_TOKEN
    chance = random.Random(block)
    text = f"[{block}]"
    while len(text) < length:
        text += " " + chance.choice(_WORDS)
    # The cut may fall into a word; a blank at the end keeps two blocks from joining theirs.
    return text[: length - 1] + " "


def prompt_text(request: TraceRequest, scale: Scale) -> str:
    """Rebuild the prompt: whole blocks, and what the request fills of its last one."""
    text = "".join(block_text(block, scale.block_tokens) for block in request.blocks)
    return text[: scale.prompt_tokens(request) * CHARS_PER_TOKEN]


def repeated_share_ratio(requests: Sequence[TraceRequest]) -> float:
    """How much of all prompts one cache with room for everything would have seen before."""
    seen: set[tuple[int, ...]] = set()
    repeated = total = 0
    for request in requests:
        known = 0
        while known < len(request.blocks) and request.blocks[: known + 1] in seen:
            known += 1
        seen.update(request.blocks[: end + 1] for end in range(known, len(request.blocks)))
        repeated += min(known * TRACE_BLOCK_TOKENS, request.input_tokens)
        total += request.input_tokens
    return repeated / total if total else 0.0
