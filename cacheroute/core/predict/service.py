"""What one request will cost its Instance, from the lengths of its parts.

Asked twice: before preparation with the Scheduler's counts, and after it with what was really
put in front of the prompt. Knowledge that was not found has no tokens.
"""

from dataclasses import dataclass

from cacheroute.core.predict.coefficients import Coefficients
from cacheroute.core.predict.correction import AS_MODELLED, Factors
from cacheroute.core.task import KVCACHE


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceForecast:
    """The predicted course of one request on an idle Instance."""

    prefill_ms: float
    """Reading what has no KV yet."""
    pull_ms: float
    """Loading the KV that is reused; 0 when none is."""
    service_ms: float
    """Both: from being forwarded to the first token."""
    uncorrected_ms: float
    """`service_ms` as the model alone says it: what an observation is to be compared with."""
    reused_tokens: int
    """Tokens whose KV is loaded, in whole blocks."""
    residual_tokens: int
    """Tokens that are computed."""
    total_tokens: int
    """The whole prompt."""
    tpot_ms: float
    """Each further token."""
    decode_ms: float
    """All further tokens."""


def predict_service(
    *,
    prompt_tokens: int,
    knowledge_tokens: int,
    header_tokens: int,
    mode: str,
    coefficients: Coefficients,
    reusable_tokens: int = 0,
    factors: Factors = AS_MODELLED,
    batch: int = 1,
    output_tokens: int = 1,
) -> ServiceForecast:
    """Forecast one request; only `kvcache` mode reuses KV, and never more than the knowledge has.

    `reusable_tokens` is what is injected and stands at the very front; `header_tokens` is what
    template and instructions add. `output_tokens` counts what follows the first token.
    """
    knowledge_tokens = max(0, knowledge_tokens)
    prompt_tokens = max(0, prompt_tokens)
    reused = 0
    if mode == KVCACHE:
        reused = coefficients.kv.aligned(min(max(0, reusable_tokens), knowledge_tokens))
    total = max(1, prompt_tokens + knowledge_tokens + header_tokens)
    residual = max(1, total - reused)
    prefill_ms = coefficients.prefill.predict_ms(residual, reused, batch=batch)
    pull_ms = coefficients.pull.pull_ms(coefficients.kv.redis_gb(reused)) if reused else 0.0
    factor = factors.kv_prefill if reused else factors.text_prefill
    tpot_ms = coefficients.decode.tpot_ms(total, batch=batch) * factors.decode
    return ServiceForecast(
        prefill_ms=prefill_ms * factor,
        pull_ms=pull_ms * factor,
        service_ms=(prefill_ms + pull_ms) * factor,
        uncorrected_ms=prefill_ms + pull_ms,
        reused_tokens=reused,
        residual_tokens=residual,
        total_tokens=total,
        tpot_ms=tpot_ms,
        decode_ms=tpot_ms * max(0, output_tokens),
    )
