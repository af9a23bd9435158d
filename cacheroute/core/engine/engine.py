"""One vLLM-like Instance in virtual time: submit, abort, and step by step.

A step computes one token for every decoding request, then chunks of the prompts that are
running, then prompts that wait, within one token budget. A prompt is looked up in the prefix
cache when it is first scheduled, and is admitted only if it and its whole answer fit: so
nothing is ever preempted. Same calls, same events: there is no chance and no clock in here.
"""

from collections import OrderedDict
from typing import NamedTuple

from cacheroute.core.engine.blocks import Holding, KvSpace
from cacheroute.core.engine.profile import EngineProfile
from cacheroute.core.engine.run import Run, Sequence, Totals
from cacheroute.core.predict.prefill import attention_pairs


class Token(NamedTuple):
    """One step's result for one request."""

    run: Run
    at_s: float
    """When the step ended."""
    number: int
    """Output tokens so far, this one included: 1 is the first; 0 when none was asked for."""
    finished: bool


class Engine:
    """Continuous batching over one KV space.

    `now` must never go back, but for requests that are submitted late. A caller that is late
    may pass a `now` beyond several steps: they are run one after another, each at its own time.
    """

    __slots__ = (
        "_context_tokens", "_decoding", "_ends_at_s", "_plan", "_prefilling", "_started_at_s",
        "_waiting", "kv", "profile", "totals",
    )  # fmt: skip

    def __init__(self, profile: EngineProfile) -> None:
        self.profile = profile
        self.kv = KvSpace(profile.blocks)
        self.totals = Totals()
        self._waiting: OrderedDict[str, Run] = OrderedDict()
        self._prefilling: dict[str, Run] = {}
        self._decoding: dict[str, Run] = {}
        self._context_tokens = 0
        self._plan: list[tuple[Run, int]] = []
        self._started_at_s = 0.0
        self._ends_at_s: float | None = None

    @property
    def waiting(self) -> int:
        """Requests that no step has touched yet."""
        return len(self._waiting)

    @property
    def running(self) -> int:
        """Requests in the batch."""
        return len(self._prefilling) + len(self._decoding)

    @property
    def kv_usage_ratio(self) -> float:
        """Share of the KV space that requests hold; remembered prefixes do not count."""
        return self.kv.held / self.kv.capacity

    def fits(self, tokens: int) -> bool:
        """Whether a request of this many tokens, prompt and answer, could ever be admitted."""
        return self.profile.blocks_for(tokens) <= self.kv.capacity

    def submit(self, sequence: Sequence, now: float) -> Run:
        """Queue a request; its Run changes as steps are taken.

        One that comes late, after steps that began later than `now`, waits for the next step.
        Raises ValueError for an id that is here already or a request that can never fit.
        """
        if self._find(sequence.id) is not None:
            raise ValueError(f"The request id '{sequence.id}' is in use.")
        tokens = sequence.prompt_tokens + sequence.output_tokens
        if not self.fits(tokens):
            raise ValueError(
                f"{tokens} tokens can never fit: the KV space has {self.kv.capacity} blocks "
                f"of {self.profile.block_tokens} tokens."
            )
        run = Run(sequence, now)
        self._waiting[sequence.id] = run
        if self._ends_at_s is None:
            # An idle engine stands at the end of its last step.
            self._begin(max(now, self._started_at_s))
        return run

    def abort(self, sequence_id: str, now: float) -> bool:
        """Drop a request and free its blocks; False when it is not here.

        The step under way takes as long as it was going to.
        """
        run = self._find(sequence_id)
        if run is None:
            return False
        if self._waiting.pop(sequence_id, None) is None:
            if self._decoding.pop(sequence_id, None) is not None:
                self._context_tokens -= run.computed_tokens
            else:
                del self._prefilling[sequence_id]
            self._release(run)
        run.finished_at_s = now
        self.totals.aborted += 1
        return True

    def next_step_at(self) -> float | None:
        """Return when the step under way ends; None when there is nothing to do."""
        return self._ends_at_s

    def step(self, now: float) -> list[Token]:
        """Finish every step that ends by `now` and return what came out, in order."""
        tokens: list[Token] = []
        while self._ends_at_s is not None and self._ends_at_s <= now:
            ended_at_s = self._ends_at_s
            self._complete(ended_at_s, tokens)
            self._begin(ended_at_s)
        return tokens

    def _find(self, sequence_id: str) -> Run | None:
        return (
            self._decoding.get(sequence_id)
            or self._prefilling.get(sequence_id)
            or self._waiting.get(sequence_id)
        )

    def _begin(self, at_s: float) -> None:
        """Decide what the next step computes, and so when it ends."""
        profile = self.profile
        computed = len(self._decoding)
        budget = profile.step_budget_tokens - computed
        pairs = 0.0
        plan = self._plan = []
        for run in self._prefilling.values():
            if not budget:
                break
            chunk = min(run.prompt_left_tokens, budget)
            budget -= chunk
            pairs += attention_pairs(chunk, run.computed_tokens)
            plan.append((run, chunk))
        while budget and self._waiting and self.running < profile.max_running:
            run = next(iter(self._waiting.values()))
            # A late caller can have queued it after this step began.
            if run.submitted_at_s > at_s or not self._admit(run, at_s):
                break
            chunk = min(run.prompt_left_tokens, budget)
            budget -= chunk
            pairs += attention_pairs(chunk, run.computed_tokens)
            plan.append((run, chunk))
        computed = profile.step_budget_tokens - budget
        self._started_at_s = at_s
        if computed:
            self._ends_at_s = at_s + profile.step_s(
                tokens=computed, pairs=pairs, context_tokens=self._context_tokens
            )
        elif self._waiting:
            self._begin(next(iter(self._waiting.values())).submitted_at_s)
        else:
            self._ends_at_s = None

    def _admit(self, run: Run, at_s: float) -> bool:
        sequence = run.sequence
        block_tokens = self.profile.block_tokens
        holding = self.kv.hold(
            sequence.keys,
            # The last prompt token is always computed: the first answer token comes of it.
            (sequence.prompt_tokens - 1) // block_tokens,
            self.profile.blocks_for(sequence.prompt_tokens + sequence.output_tokens),
        )
        if holding is None:
            return False
        del self._waiting[sequence.id]
        self._prefilling[sequence.id] = run
        run.holding = holding
        run.scheduled_at_s = at_s
        run.published_blocks = len(holding.shared)
        self.totals.prefix_hits_tokens += run.published_blocks * block_tokens
        if sequence.loaded is not None:
            self._take_in(run, holding, sequence.loaded)
        run.cached_tokens = run.computed_tokens = run.published_blocks * block_tokens
        run.set_edge(block_tokens)
        self.totals.prefix_queries_tokens += sequence.prompt_tokens
        return True

    def _take_in(self, run: Run, holding: Holding, loaded: range) -> None:
        """Count blocks that came from outside as computed, and let others hit them.

        What is here counts first: it may have grown since the lookup. If it has shrunk, there
        is a gap before what was loaded, and everything behind a gap is useless.
        """
        sequence = run.sequence
        block_tokens = self.profile.block_tokens
        here = run.published_blocks
        until = min(loaded.stop, len(sequence.keys), (sequence.prompt_tokens - 1) // block_tokens)
        if loaded.start <= here < until:
            for key in sequence.keys[here:until]:
                self.kv.publish(holding, key)
            run.published_blocks = until
            run.loaded_tokens = (until - here) * block_tokens
        self.totals.outside_queries_tokens += sequence.prompt_tokens - here * block_tokens
        self.totals.loaded_tokens += run.loaded_tokens

    def _complete(self, at_s: float, tokens: list[Token]) -> None:
        """Hand out what the step under way has computed."""
        totals = self.totals
        totals.steps += 1
        totals.busy_s += at_s - self._started_at_s
        decoding = self._decoding
        self._context_tokens += len(decoding)
        totals.generation_tokens += len(decoding)
        done: list[Run] = []
        for run in decoding.values():
            run.computed_tokens += 1
            run.emitted_tokens += 1
            if run.computed_tokens >= run.edge_tokens:
                self._publish(run)
            finished = run.emitted_tokens >= run.sequence.output_tokens
            if finished:
                done.append(run)
            tokens.append(Token(run, at_s, run.emitted_tokens, finished))
        for run in done:
            del decoding[run.sequence.id]
            self._context_tokens -= run.computed_tokens
            self._finish(run, at_s)
        for run, chunk in self._plan:
            if run.finished_at_s is None:
                self._prefilled(run, chunk, at_s, tokens)

    def _prefilled(self, run: Run, chunk: int, at_s: float, tokens: list[Token]) -> None:
        cost_s = self.profile.chunk_s(tokens=chunk, context_tokens=run.computed_tokens)
        run.prefill_s += cost_s
        self.totals.prefill_s += cost_s
        run.computed_tokens += chunk
        if run.computed_tokens >= run.edge_tokens:
            self._publish(run)
        sequence = run.sequence
        if run.computed_tokens < sequence.prompt_tokens:
            return
        del self._prefilling[sequence.id]
        self.totals.prompt_tokens += sequence.prompt_tokens
        if sequence.output_tokens:
            run.emitted_tokens = 1
            run.first_token_at_s = at_s
            self.totals.generation_tokens += 1
        finished = sequence.output_tokens <= 1
        tokens.append(Token(run, at_s, run.emitted_tokens, finished))
        if finished:
            self._finish(run, at_s)
        else:
            self._decoding[sequence.id] = run
            self._context_tokens += run.computed_tokens

    def _publish(self, run: Run) -> None:
        if run.holding is None:
            return
        block_tokens = self.profile.block_tokens
        whole = min(run.computed_tokens // block_tokens, len(run.sequence.keys))
        for key in run.sequence.keys[run.published_blocks : whole]:
            self.kv.publish(run.holding, key)
        run.published_blocks = whole
        run.set_edge(block_tokens)

    def _finish(self, run: Run, at_s: float) -> None:
        run.finished_at_s = at_s
        self.totals.finished += 1
        self._release(run)

    def _release(self, run: Run) -> None:
        if run.holding is not None:
            self.kv.release(run.holding)
            run.holding = None
