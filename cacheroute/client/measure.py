"""How fast an Instance is, by asking it: one streamed chat after the other, timed.

    found = await measure("http://127.0.0.1:9001", "llama", Plan(samples=2))
    fit_prefill(found.prefill)

The Instance should have nothing else to do meanwhile. What is measured is what a client sees,
its own connection included.
"""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cacheroute.client.answer import cause_of, read_answer
from cacheroute.client.ask import Ask
from cacheroute.client.chat_timing import ChatTiming, tpot_ms
from cacheroute.client.faults import (
    ControlFault,
    NotUnderstood,
    Refused,
    TimedOut,
    Unreachable,
)
from cacheroute.client.lean_httpx import httpx
from cacheroute.client.measure_plan import WARM_UPS, Counting, Plan, Shot, words
from cacheroute.core.predict.samples import DecodeSample, PrefillSample
from cacheroute.wire import paths

MAX_REFUSAL_BYTES = 64 * 1024
_NOT_LIKED = (400, 413, 422)
"""How engines say that a request is wrong, or too long."""
_CONNECT_S = 5.0


class NoUsage(NotUnderstood):
    """The engine streams, but does not say how many tokens it has read."""


class AnswerFailed(ControlFault):
    """An answer began and ended with an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What one run of measuring came to."""

    prefill: tuple[PrefillSample, ...]
    decode: tuple[DecodeSample, ...]
    requests: int
    """Answers that came, warming up included."""
    left_out: tuple[str, ...]
    """What was planned and not measured, in words."""
    took_s: float


@dataclass(frozen=True, slots=True)
class _Answer:
    sent_at_s: float
    timing: ChatTiming

    @property
    def ttft_ms(self) -> float | None:
        texts = self.timing.text_at_s
        return (texts[0] - self.sent_at_s) * 1e3 if texts else None


@dataclass(slots=True)
class _Found:
    prefill: list[PrefillSample] = field(default_factory=list)
    decode: list[DecodeSample] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def take(self, shot: Shot, answers: Sequence[_Answer]) -> None:
        together = [answer.timing for answer in answers]
        for answer in answers:
            if shot.batch == 1:
                self._take_prefill(shot, answer)
            self._take_decode(answer.timing, together)

    def _take_prefill(self, shot: Shot, answer: _Answer) -> None:
        tokens, cached_tokens = answer.timing.prompt_tokens, answer.timing.cached_tokens
        if tokens is None or answer.ttft_ms is None:
            self.left_out["answers without text or usage"] += 1
        elif shot.context_tokens and cached_tokens is None:
            self.left_out["contexts, since the engine does not tell what its cache had"] += 1
        elif (uncached_tokens := tokens - (cached_tokens or 0)) > 0:
            self.prefill.append(
                PrefillSample(
                    uncached_tokens=uncached_tokens,
                    context_tokens=cached_tokens or 0,
                    ttft_ms=answer.ttft_ms,
                )
            )

    def _take_decode(self, timing: ChatTiming, together: Sequence[ChatTiming]) -> None:
        took_ms = tpot_ms(timing, together)
        if took_ms is None or timing.prompt_tokens is None:
            return
        context_tokens = timing.prompt_tokens + (timing.completion_tokens or 0) / 2
        self.decode.append(
            DecodeSample(context_tokens=context_tokens, batch=len(together), tpot_ms=took_ms)
        )


async def measure(
    endpoint: str,
    model: str,
    plan: Plan | None = None,
    *,
    api_key: str | None = None,
    connect_s: float = _CONNECT_S,
    on_start: Callable[[float], None] | None = None,
    on_answer: Callable[[], None] | None = None,
) -> Measurements:
    """Carry out a plan; raises a ControlFault when the Instance does not play its part.

    `on_start` is told how many seconds it will take once that is known, `on_answer` is called
    for each of `plan.requests`, those that are left out too.
    """
    plan = plan or Plan()
    async with _client(endpoint, api_key, connect_s) as http:
        return await _Measuring(http, endpoint, model, plan, on_answer or _nothing).run(
            on_start or _nothing
        )


def _client(endpoint: str, api_key: str | None, connect_s: float) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        headers={"authorization": f"Bearer {api_key}"} if api_key else {},
        # What limits a request is its own clock: a long prompt is silent for long.
        timeout=httpx.Timeout(None, connect=connect_s),
        # A proxy from the environment would be measured along with the Instance.
        trust_env=False,
        verify=endpoint.startswith("https:"),
    )


class _Measuring:
    """One run."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        endpoint: str,
        model: str,
        plan: Plan,
        on_answer: Callable[[], None],
    ) -> None:
        self._http = http
        self._url = endpoint.rstrip("/") + paths.CHAT_COMPLETIONS
        self._model = model
        self._plan = plan
        self._on_answer = on_answer
        self._loop = asyncio.get_running_loop()
        self._chance = random.Random(plan.seed)
        self._extras: dict[str, object] = {"ignore_eos": True}
        self._counting = Counting(tokens_per_word=1.0, template_tokens=0.0)
        self._prefixes: dict[int, str] = {}
        self._too_long_tokens: int | None = None
        self._answers = 0
        self._found = _Found()

    async def run(self, on_start: Callable[[float], None]) -> Measurements:
        plan, found = self._plan, self._found
        began_s = self._loop.time()
        shots: list[Shot] | None = None
        try:
            async with asyncio.timeout_at(began_s + plan.time_limit_s):
                expected_s = await self._warm_up()
                on_start(min(plan.time_limit_s, expected_s))
                shots = list(plan.shots(self._chance))
                while shots:
                    await self._shoot(shots[0])
                    del shots[0]
        except TimeoutError:
            if shots is None:
                raise TimedOut(url=self._url, timeout_s=plan.time_limit_s) from None
            unsent = sum(shot.batch for shot in shots)
            found.left_out[f"requests, since {plan.time_limit_s:g} s were over"] += unsent
        return Measurements(
            prefill=tuple(found.prefill),
            decode=tuple(found.decode),
            requests=self._answers,
            left_out=tuple(f"{count} {what}" for what, count in found.left_out.items()),
            took_s=self._loop.time() - began_s,
        )

    async def _warm_up(self) -> float:
        """Learn how the engine counts; returns how long everything will take, in seconds."""
        first = await self._first()
        if first.timing.prompt_tokens is None:
            raise NoUsage(url=self._url, why="it does not say how many tokens it has read")
        texts = first.timing.text_at_s
        if not texts:
            raise NotUnderstood(url=self._url, why="it holds no text")
        if len(texts) == 1 and (first.timing.completion_tokens or 0) > 1:
            raise NotUnderstood(url=self._url, why="it comes in one piece, not token by token")
        small, large = [await self._ask(words(count, self._chance)) for count in WARM_UPS[1:]]
        self._counting = Counting.of(
            (WARM_UPS[1], small.timing.prompt_tokens or WARM_UPS[1]),
            (WARM_UPS[2], large.timing.prompt_tokens or WARM_UPS[2]),
        )
        return self._expected_s(small, large)

    async def _first(self) -> _Answer:
        """Ask for the first time: an engine may not know what ours adds to the standard."""
        text = words(WARM_UPS[0], self._chance)
        try:
            return await self._ask(text)
        except Refused as refused:
            if refused.status not in _NOT_LIKED:
                raise
        self._extras = {}
        return await self._ask(text)

    def _expected_s(self, small: _Answer, large: _Answer) -> float:
        plan = self._plan
        small_s, large_s = (small.ttft_ms or 0) / 1e3, (large.ttft_ms or 0) / 1e3
        words_apart = WARM_UPS[2] - WARM_UPS[1]
        per_token_s = max(0.0, large_s - small_s) / (words_apart * self._counting.tokens_per_word)
        texts = large.timing.text_at_s
        answer_s = (texts[-1] - texts[0]) * plan.answer_tokens / len(texts) if texts else 0.0
        return sum(
            small_s + per_token_s * shot.tokens + answer_s
            for shot in plan.shots(random.Random(plan.seed))
        )

    async def _shoot(self, shot: Shot) -> None:
        total_tokens = shot.context_tokens + shot.tokens
        if self._too_long_tokens is None or total_tokens < self._too_long_tokens:
            try:
                texts = [await self._text(shot) for _ in range(shot.batch)]
                self._found.take(shot, await self._ask_all(texts))
                return
            except Refused as refused:
                if refused.status not in _NOT_LIKED:
                    raise
                self._too_long_tokens = total_tokens
        left_out = f"requests of {total_tokens} tokens, which the engine does not take"
        self._found.left_out[left_out] += shot.batch
        for _ in range(shot.batch):
            self._on_answer()

    async def _text(self, shot: Shot) -> str:
        counting, chance = self._counting, self._chance
        context_tokens = shot.context_tokens
        if not context_tokens:
            return words(counting.words(shot.tokens), chance)
        if context_tokens not in self._prefixes:
            prefix = words(counting.context_words(context_tokens), chance)
            await self._ask(prefix, answer_tokens=1)
            self._prefixes[context_tokens] = prefix
        own = words(counting.context_words(shot.tokens), chance)
        return f"{self._prefixes[context_tokens]} {own}"

    async def _ask_all(self, texts: Sequence[str]) -> list[_Answer]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._ask(text)) for text in texts]
        except* ControlFault as faults:
            fault: BaseException = faults
            while isinstance(fault, BaseExceptionGroup):
                fault = fault.exceptions[0]
            raise fault from None
        return [task.result() for task in tasks]

    async def _ask(self, text: str, *, answer_tokens: int | None = None) -> _Answer:
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": answer_tokens or self._plan.answer_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._extras,
        }
        try:
            async with asyncio.timeout(self._plan.request_limit_s):
                answer = await self._stream(json.dumps(body).encode())
        except httpx.ConnectTimeout:
            raise Unreachable(url=self._url, cause="no connection in time") from None
        except (httpx.TimeoutException, TimeoutError):
            raise TimedOut(url=self._url, timeout_s=self._plan.request_limit_s) from None
        except (httpx.RemoteProtocolError, httpx.DecodingError, ValueError) as problem:
            raise NotUnderstood(url=self._url, why=str(problem)) from problem
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as problem:
            raise Unreachable(url=self._url, cause=cause_of(problem)) from problem
        if answer.timing.error is not None:
            said = answer.timing.error
            raise AnswerFailed(f"{self._url} began to answer and failed: {said}", url=self._url)
        self._answers += 1
        self._on_answer()
        return answer

    async def _stream(self, body: bytes) -> _Answer:
        timing = ChatTiming()
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        sent_at_s = self._loop.time()
        async with self._http.stream("POST", self._url, content=body, headers=headers) as response:
            if response.status_code != 200:
                await self._refuse(response)
            kind = response.headers.get("content-type", "of no kind")
            if not kind.lower().startswith("text/event-stream"):
                raise ValueError(f"it is {kind[:80]}, not a stream of events")
            async for data in response.aiter_raw():
                timing.take(data, self._loop.time())
        return _Answer(sent_at_s, timing)

    async def _refuse(self, response: httpx.Response) -> None:
        said = bytearray()
        async for data in response.aiter_raw():
            said += data
            if len(said) > MAX_REFUSAL_BYTES:
                break
        ask = Ask(path=paths.CHAT_COMPLETIONS, reply=dict)
        read_answer(ask, url=self._url, status=response.status_code, body=bytes(said))


def _nothing(*_: object) -> None:
    return None
