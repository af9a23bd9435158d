"""What became of a request's knowledge: one word for each way, and what the words come down to.

The words are those of the trace (protocol, 3.9) and of ours where it has none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

KV_INJECT = "kv_inject"
"""KV was brought to the Instance, and what stands first in the prompt has it there."""
TEXT_INJECT = "text_inject"
"""The text of it was put in front of the prompt, as was wanted."""
NOTHING_WANTED = "no_rag_or_empty_knowledge"
"""The request named none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeCounts:
    """Requests that named knowledge, by what became of it."""

    kv_inject: int
    text_inject: int
    fallback: int
    """Those that went on with less than was wanted, for whatever reason."""


def summed_up(paths: Mapping[str, int]) -> KnowledgeCounts:
    """Count by outcome what was counted by path."""
    kv, text = paths.get(KV_INJECT, 0), paths.get(TEXT_INJECT, 0)
    others = sum(paths.values()) - kv - text - paths.get(NOTHING_WANTED, 0)
    return KnowledgeCounts(kv_inject=kv, text_inject=text, fallback=others)
