"""What requests that are over teach: which of them measure something, and what.

A log holds what happened, not what was measured: a request counts only where nothing else can
have taken part of its time. What is left out is counted by its reason.

- Prefill, of a Scheduler's request that was told to be alone: `service_ms` over the tokens that
  forecasts count. Where the Instance says that its own cache had more, it is left out.
- Prefill, of any other streamed chat: time to first token over prompt less cached tokens, if the
  Instance counted both and the log shows nobody else there until then.
- KV, of a Scheduler's request that was alone and reused some: its whole service time.
- Decoding, of any streamed chat: if the same requests decoded beside it all along.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cacheroute.core.predict.samples import DecodeSample, PrefillSample

ENDPOINT = "chat/completions"
"""Others count prompts differently, or answer several at once."""
MIN_ANSWER_TOKENS = 8
"""A shorter answer tells more of its end than of its tokens."""
MAX_BATCH = 32
MIN_OF_BATCH = 4
"""A batch size that was seen less often gets no line of its own."""
SLACK_TOKENS = 32
SLACK_RATIO = 0.05
"""What a chat template puts in front of every prompt is always in the cache."""
STEADY_RATIO = 0.9
"""For this share of its decoding, nobody else may leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedKnowledge:
    """What the log says of a Scheduler's request besides; None is not known."""

    service_ms: float | None
    """From being sent to the first token."""
    residual_tokens: int | None
    """Tokens to be computed, as forecasts count them."""
    reused_tokens: int | None
    """Tokens whose KV was brought."""
    alone: bool
    """Whether no other prompt was at the Instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """One request that is over, as far as it matters here; None is not known."""

    at: float
    """Arrival, seconds since the epoch."""
    endpoint: str
    model: str | None
    stream: bool
    instance: str | None
    attempts: int
    outcome: str
    ttft_ms: float | None
    e2e_ms: float
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int | None
    knowledge: LoggedKnowledge | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KvService:
    """One first token for which KV was loaded and the rest computed."""

    residual_tokens: int
    reused_tokens: int
    service_ms: float


@dataclass(slots=True, kw_only=True)
class Lessons:
    """What a log teaches."""

    by_forecast: list[PrefillSample] = field(default_factory=list)
    """Prompts as forecasts count them."""
    by_count: list[PrefillSample] = field(default_factory=list)
    """Prompts as Instances count them."""
    kv: list[KvService] = field(default_factory=list)
    decode: list[DecodeSample] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """Requests that taught no prefill, by reason."""


def learn(requests: Sequence[LoggedRequest], *, model: str | None = None) -> Lessons:
    """Find what these requests measured; they are all that is known to have been there.

    With a model, only its requests are measurements; the others merely were in the way.
    """
    lessons = Lessons()
    by_instance: defaultdict[str, list[LoggedRequest]] = defaultdict(list)
    for request in requests:
        if request.instance is not None:
            by_instance[request.instance].append(request)
    crowds = {instance: _Crowd(there) for instance, there in by_instance.items()}
    decode: list[DecodeSample] = []
    for request in requests:
        if model is not None and request.model != model:
            continue
        reason = _unmeasured(request)
        if reason is None and request.instance is not None:
            crowd = crowds[request.instance]
            reason = _learn_prefill(request, crowd, lessons)
            decode += _decode(request, crowd)
        if reason is not None:
            lessons.left_out[reason] += 1
    sizes = Counter(sample.batch for sample in decode)
    lessons.decode = [sample for sample in decode if sizes[sample.batch] >= MIN_OF_BATCH]
    return lessons


def models_of(requests: Sequence[LoggedRequest]) -> Mapping[str, int]:
    """Return how many requests each model had, the most frequent first."""
    named = Counter(request.model for request in requests if request.model is not None)
    return dict(named.most_common())


def _unmeasured(request: LoggedRequest) -> str | None:
    if request.outcome != "ok" or request.instance is None or request.attempts != 1:
        return "did not go well at once"
    if request.endpoint != ENDPOINT:
        return "no chat"
    if not request.stream or request.ttft_ms is None:
        return "not streamed"
    return None


def _learn_prefill(request: LoggedRequest, crowd: "_Crowd", lessons: Lessons) -> str | None:
    """Add what it teaches of prefill or KV; returns the reason when it is nothing."""
    if request.knowledge is not None:
        return _learn_knowledge(request, request.knowledge, lessons)
    if request.ttft_ms is None or request.prompt_tokens is None:
        return "tokens not counted"
    if request.cached_tokens is None:
        return "cached tokens not told"
    if not crowd.is_alone(request.at, request.at + request.ttft_ms / 1e3):
        return "not alone"
    uncached_tokens = request.prompt_tokens - request.cached_tokens
    if uncached_tokens < 1:
        return "nothing computed"
    lessons.by_count.append(
        PrefillSample(
            uncached_tokens=uncached_tokens,
            context_tokens=request.cached_tokens,
            ttft_ms=request.ttft_ms,
        )
    )
    return None


def _learn_knowledge(
    request: LoggedRequest, knowledge: LoggedKnowledge, lessons: Lessons
) -> str | None:
    residual, reused = knowledge.residual_tokens, knowledge.reused_tokens
    service_ms = knowledge.service_ms
    if service_ms is None or residual is None or reused is None:
        return "not forecast"
    if not knowledge.alone:
        return "not alone"
    if request.cached_tokens is not None:
        # Both ways: KV that did not arrive was computed, and what more was there was not.
        slack = max(SLACK_TOKENS, SLACK_RATIO * residual)
        if abs(request.cached_tokens - reused) > slack:
            return "cached otherwise than forecast"
    if reused:
        lessons.kv.append(
            KvService(residual_tokens=residual, reused_tokens=reused, service_ms=service_ms)
        )
    else:
        lessons.by_forecast.append(PrefillSample(uncached_tokens=residual, ttft_ms=service_ms))
    return None


def _decode(request: LoggedRequest, crowd: "_Crowd") -> list[DecodeSample]:
    tokens, prompt_tokens, ttft_ms = (
        request.completion_tokens, request.prompt_tokens, request.ttft_ms,
    )  # fmt: skip
    if ttft_ms is None or tokens is None or prompt_tokens is None or tokens < MIN_ANSWER_TOKENS:
        return []
    batch = crowd.steady_batch(request.at + ttft_ms / 1e3, request.at + request.e2e_ms / 1e3)
    if batch is None or batch > MAX_BATCH:
        return []
    tpot_ms = (request.e2e_ms - ttft_ms) / (tokens - 1)
    return [DecodeSample(context_tokens=prompt_tokens + tokens / 2, batch=batch, tpot_ms=tpot_ms)]


class _Crowd:
    """Who was at one Instance when, by three sorted lists of instants."""

    def __init__(self, requests: Sequence[LoggedRequest]) -> None:
        self._arrivals = sorted(request.at for request in requests)
        self._leavings = sorted(_end_s(request) for request in requests)
        # One whose first token is not known is taken to read its prompt until it ends.
        self._firsts = sorted(
            _end_s(request) if request.ttft_ms is None else request.at + request.ttft_ms / 1e3
            for request in requests
        )

    def is_alone(self, begin_s: float, end_s: float) -> bool:
        """Whether only one request was there at any time between."""
        return bisect_left(self._arrivals, end_s) - bisect_right(self._leavings, begin_s) == 1

    def steady_batch(self, first_s: float, end_s: float) -> int | None:
        """Return how many decoded together all the time between; None when it changed."""
        there = bisect_right(self._arrivals, first_s)
        if there != bisect_left(self._arrivals, end_s):
            return None
        decoding = bisect_right(self._firsts, first_s)
        if decoding != there:
            return None
        left = bisect_right(self._leavings, first_s)
        steady_until_s = first_s + STEADY_RATIO * (end_s - first_s)
        if bisect_left(self._leavings, steady_until_s) != left:
            return None
        return there - left


def _end_s(request: LoggedRequest) -> float:
    return request.at + request.e2e_ms / 1e3
