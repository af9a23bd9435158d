"""What was decided about the knowledge of one request, and why."""

from dataclasses import dataclass

from cacheroute.core.injection.terms import IwsTerms

SCHEDULER_MODE = "scheduler_mode"
ESTIMATION_FAILED = "estimation_failed"
KV_HIDDEN = "kvcache_hidden_and_score_better"
KV_BETTER = "kvcache_score_better"
TEXT_CONGESTION = "text_due_to_kdn_congestion"
TEXT_DESPITE_WAIT = "text_despite_active_kv_wait"
TEXT_BETTER = "text_score_better"


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionDecision:
    """The mode of one request."""

    mode: str
    """`text` or `kvcache`; a Scheduler's word that means neither is kept as it is."""
    reason: str
    """One of the words above, or `no_rag_or_empty_knowledge` where there is nothing to decide."""
    strategy: str
    """Who decided: `default` or `iws`."""
    terms: IwsTerms | None = None
    """What both ways were predicted to cost; None when that could not be told."""

    def as_wire(self) -> dict[str, int | str]:
        """Return the decision for the trace and for `/debug/decisions`: flat, nothing null."""
        told: dict[str, int | str] = {
            "injection_strategy": self.strategy,
            "injection_mode": self.mode,
            "injection_reason": self.reason,
        }
        if self.terms is not None:
            told |= self.terms.as_wire()
        return told
