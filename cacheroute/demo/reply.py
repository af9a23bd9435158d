"""An answer as it grows: what was asked, and how much of each choice has come out.

The shapes of the endpoints are drawn from it; it knows nothing of them.
"""

from dataclasses import dataclass, field

from cacheroute.core.engine.run import Run
from cacheroute.demo import tokens
from cacheroute.demo.answers import Answer
from cacheroute.demo.params import Body, Params


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request, understood."""

    params: Params
    prompts: tuple[bytes, ...]
    """Token streams."""
    answers: tuple[Answer, ...]
    """`params.choices` for each prompt in turn; none for an endpoint that reads prompts only."""
    body: Body = field(default_factory=dict, repr=False)
    """The body as sent, for what some endpoints repeat."""


class Choice:
    """One answer of a reply."""

    __slots__ = ("answer", "emitted", "index", "last_token_at_s")

    def __init__(self, index: int, answer: Answer) -> None:
        self.index = index
        self.answer = answer
        self.emitted = 0
        """Tokens that have come out."""
        self.last_token_at_s: float | None = None

    @property
    def finished(self) -> bool:
        """Whether the last token is out."""
        return self.emitted >= len(self.answer.pieces)


class Reply:
    """All choices of one request."""

    __slots__ = ("ask", "choices", "created_at_s", "id", "model", "prompt_tokens", "runs")

    def __init__(self, ask: Ask, *, reply_id: str, model: str, created_at_s: int) -> None:
        self.ask = ask
        self.id = reply_id
        self.model = model
        self.created_at_s = created_at_s
        self.choices = [Choice(n, answer) for n, answer in enumerate(ask.answers)]
        self.prompt_tokens = sum(tokens.count(prompt) for prompt in ask.prompts)
        self.runs: list[Run] = []
        """One for each choice, or for each prompt where there are no choices."""

    @property
    def completion_tokens(self) -> int:
        """Answer tokens so far."""
        return sum(choice.emitted for choice in self.choices)

    @property
    def cached_tokens(self) -> int:
        """Prompt tokens found in the prefix cache; a prompt with several choices counts once."""
        step = self.ask.params.choices if self.choices else 1
        return sum(run.cached_tokens for run in self.runs[::step])
