"""What a Scheduler wants done: a prompt, and the knowledge that belongs in front of it.

Read once from the Request that the Scheduler forwards, and never changed: what this Proxy
makes of it (another mode, a fallback) is said elsewhere.
"""

from dataclasses import dataclass

TEXT = "text"
KVCACHE = "kvcache"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One Request of a Scheduler, as far as it is acted on."""

    request_id: int | str
    """As the Scheduler gave it; its own ids wrap at 65535, so it names nothing for long."""
    endpoint: str
    """`chat/completions` or `completions`."""
    model: str
    user_prompt: str
    prompt_tokens: int
    """Tokens of `user_prompt` by the Scheduler's count; its characters / 4 where it gave none."""
    stream: bool
    max_tokens: int | float | None = None
    temperature: int | float | None = None
    top_p: int | float | None = None
    wants_knowledge: bool = False
    """Whether knowledge is to be put in front of the prompt at all."""
    mode: str = KVCACHE
    """How the Scheduler wants it put there: `text`, `kvcache`, or a word that means neither."""
    knowledge_ids: tuple[str, ...] = ()
    """Ids of the pieces of knowledge, as they were sent; they match without regard to case."""
    knowledge_tokens: int | None = None
    """Tokens of all pieces together by the Scheduler's count; None where it gave none."""
    kdn_address: str = ""
    """`host:port` of the knowledge node, without a scheme; empty when there is none."""
    ignored: tuple[str, ...] = ()
    """Fields that were sent, mean something elsewhere, and have no effect here."""

    @property
    def has_knowledge(self) -> bool:
        """Whether there is anything to be looked up."""
        return self.wants_knowledge and bool(self.knowledge_ids)
