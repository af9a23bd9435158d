"""What a request asks of an Instance, and how far it has come.

A `Sequence` never changes. Its `Run` is written by the engine alone, step by step, and read
by whoever submitted it: two instants and a few counts say all that a trace needs.
"""

from dataclasses import dataclass, field

from cacheroute.core.engine.blocks import Holding

NEVER_TOKENS = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """One prompt, and how long its answer will be: a model knows that beforehand."""

    id: str
    prompt_tokens: int
    """At least 1."""
    output_tokens: int
    """Answer tokens to generate; 0 asks for the prompt alone, as embeddings do."""
    keys: tuple[int, ...] = field(default=(), repr=False)
    """Chain keys of the whole blocks of prompt and answer, in order; none shares nothing."""
    loaded: range | None = None
    """Blocks, by number, whose KV was fetched from outside because it was not here at the
    lookup; an empty range says that the outside had none, None that it was not asked."""
    asked_at_s: float | None = None
    """When it came in, if time was spent on the outside before it was submitted."""

    def __post_init__(self) -> None:
        if self.prompt_tokens < 1 or self.output_tokens < 0:
            raise ValueError(
                f"A request needs at least one prompt token and no negative answer, not "
                f"{self.prompt_tokens} and {self.output_tokens}."
            )


class Run:
    """One submitted request on its way through the engine."""

    __slots__ = (
        "cached_tokens", "computed_tokens", "edge_tokens", "emitted_tokens", "finished_at_s",
        "first_token_at_s", "holding", "loaded_tokens", "prefill_s", "published_blocks",
        "scheduled_at_s", "sequence", "submitted_at_s",
    )  # fmt: skip

    def __init__(self, sequence: Sequence, submitted_at_s: float) -> None:
        self.sequence = sequence
        self.submitted_at_s = submitted_at_s
        self.scheduled_at_s: float | None = None
        """When the first step that touches it began; None while it waits."""
        self.first_token_at_s: float | None = None
        self.finished_at_s: float | None = None
        """When it ended or was aborted."""
        self.cached_tokens = 0
        """Prompt tokens that need no computing: found in the prefix cache, or loaded."""
        self.loaded_tokens = 0
        """Those of them that came from outside."""
        self.computed_tokens = 0
        """Tokens whose KV is there, cached ones included."""
        self.emitted_tokens = 0
        self.prefill_s = 0.0
        """Compute seconds spent on its own prompt, whatever else shared the steps."""
        self.holding: Holding | None = None
        self.published_blocks = 0
        self.edge_tokens = NEVER_TOKENS
        """When this many tokens are computed, the next block is whole."""

    @property
    def asked_at_s(self) -> float:
        """When the request came in; earlier than it was submitted if its KV was loaded first."""
        asked_at_s = self.sequence.asked_at_s
        return self.submitted_at_s if asked_at_s is None else asked_at_s

    @property
    def prompt_left_tokens(self) -> int:
        """Prompt tokens still to be computed."""
        return self.sequence.prompt_tokens - self.computed_tokens

    def set_edge(self, block_tokens: int) -> None:
        """Note where the next block that others could hit ends."""
        following = self.published_blocks + 1
        more = following <= len(self.sequence.keys)
        self.edge_tokens = following * block_tokens if more else NEVER_TOKENS


@dataclass(slots=True, kw_only=True)
class Totals:
    """What an engine has done since it began."""

    steps: int = 0
    busy_s: float = 0.0
    """Seconds in which a step was running."""
    prefill_s: float = 0.0
    """Compute seconds of prompts, batching and overhead left out."""
    prompt_tokens: int = 0
    """Prompt tokens of requests whose prefill is done, cached ones included."""
    generation_tokens: int = 0
    prefix_queries_tokens: int = 0
    """Prompt tokens that were looked up in the prefix cache."""
    prefix_hits_tokens: int = 0
    """Prompt tokens that were found there."""
    outside_queries_tokens: int = 0
    """Prompt tokens that were not found there and were looked up outside."""
    loaded_tokens: int = 0
    """Prompt tokens whose KV came from outside."""
    finished: int = 0
    aborted: int = 0
