"""A trace sent as real HTTP: every request at its own time, whether or not others are done.

Open loop, so a slow fleet gets no mercy. What counts as a failure is what a user would call
one: a status other than 200, an error event, a stream that ends early or says nothing.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from cacheroute.demo.trace import Scale, TraceRequest, prompt_text

_MAX_EVENT_BYTES = 1024 * 1024
_MAX_ERROR_BYTES = 4096
_TIMEOUT = httpx.Timeout(connect=5.0, read=60.0, write=30.0, pool=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one request came to."""

    index: int
    """Place of the request in the trace."""
    ttft_ms: float | None
    """From sending the request to the first text of the answer; None when there was none."""
    end_to_end_ms: float
    """From sending the request to the end of the answer, or to its failure."""
    instance: str | None
    """Who answered, by the Proxy's word; None when it did not say."""
    prompt_tokens: int | None
    cached_tokens: int | None
    """Tokens of the prompt that the Instance had in its cache; None when it did not say."""
    failure: str | None
    """Why it counts as failed, in words; None when all went well."""


@dataclass(slots=True)
class _Answer:
    """What has been understood so far of one streamed answer."""

    first_text_at: float | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    error: str | None = None
    done: bool = False

    def take(self, event: bytes) -> None:
        for line in event.splitlines():
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                self.done = True
            else:
                self._take_chunk(json.loads(data))

    def _take_chunk(self, chunk: dict[str, Any]) -> None:
        if "error" in chunk:
            self.error = f"error event: {chunk['error']}"
        if self.first_text_at is None and any(_text_of(c) for c in chunk.get("choices") or ()):
            self.first_text_at = time.perf_counter()
        if usage := chunk.get("usage"):
            self.prompt_tokens = usage.get("prompt_tokens")
            self.cached_tokens = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")

    def failure(self) -> str | None:
        if self.error is not None:
            return self.error
        if self.first_text_at is None:
            return "the answer held no text"
        return None if self.done else "the stream ended without [DONE]"


def _text_of(choice: dict[str, Any]) -> str:
    return (choice.get("delta") or {}).get("content") or ""


def request_body(request: TraceRequest, *, model: str, scale: Scale) -> bytes:
    """Return the chat request that stands for one line of the trace."""
    return json.dumps(
        {
            "model": model,
            "messages": [{"role": "user", "content": prompt_text(request, scale)}],
            "max_tokens": scale.answer_tokens(request),
            "temperature": 0,
            "ignore_eos": True,
            "stream": True,
            "stream_options": {"include_usage": True},
        },
    ).encode()


async def replay(
    requests: Sequence[TraceRequest],
    *,
    base_url: str,
    model: str,
    compression: float,
    scale: Scale,
    concurrency: int = 128,
    on_done: Callable[[Outcome], None] | None = None,
) -> list[Outcome]:
    """Send the requests with their gaps divided by `compression`; outcomes in trace order.

    At most `concurrency` are under way at once; one more waits its turn unsent, and its
    clock starts when it is sent.
    """
    if not requests:
        return []
    bodies = [request_body(request, model=model, scale=scale) for request in requests]
    outcomes: list[Outcome | None] = [None] * len(requests)
    slots = asyncio.Semaphore(concurrency)
    # The fleet under test is named by its URL; a proxy from the environment would stand between.
    async with httpx.AsyncClient(
        base_url=base_url,
        timeout=_TIMEOUT,
        limits=httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        trust_env=False,
        verify=base_url.startswith("https:"),
    ) as client:

        async def one(index: int) -> None:
            async with slots:
                outcome = await _send(client, index, bodies[index])
            outcomes[index] = outcome
            if on_done is not None:
                on_done(outcome)

        began = time.perf_counter()
        first_ms = requests[0].arrives_ms
        async with asyncio.TaskGroup() as under_way:
            for index, request in enumerate(requests):
                due = began + (request.arrives_ms - first_ms) / 1000 / compression
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                under_way.create_task(one(index))
    return [outcome for outcome in outcomes if outcome is not None]


async def _send(client: httpx.AsyncClient, index: int, body: bytes) -> Outcome:
    answer = _Answer()
    instance: str | None = None
    sent_at = time.perf_counter()
    try:
        async with client.stream(
            "POST",
            "/v1/chat/completions",
            content=body,
            headers={"content-type": "application/json"},
        ) as response:
            instance = response.headers.get("x-cacheroute-instance")
            if response.status_code == 200:
                await _read_events(response, answer)
                failure = answer.failure()
            else:
                failure = f"HTTP {response.status_code}: {await _start_of(response)}"
    except httpx.HTTPError as problem:
        failure = f"{type(problem).__name__}: {problem}"
    except (ValueError, AttributeError, TypeError) as problem:
        failure = f"an event could not be read: {problem!r}"
    ended_at = time.perf_counter()
    first_at = answer.first_text_at
    return Outcome(
        index=index,
        ttft_ms=None if first_at is None else (first_at - sent_at) * 1000,
        end_to_end_ms=(ended_at - sent_at) * 1000,
        instance=instance,
        prompt_tokens=answer.prompt_tokens,
        cached_tokens=answer.cached_tokens,
        failure=failure,
    )


async def _read_events(response: httpx.Response, answer: _Answer) -> None:
    pending = b""
    async for data in response.aiter_bytes():
        *events, pending = (pending + data).replace(b"\r\n", b"\n").split(b"\n\n")
        for event in events:
            answer.take(event)
        if len(pending) > _MAX_EVENT_BYTES:
            raise ValueError(f"one event is larger than {_MAX_EVENT_BYTES} bytes")


async def _start_of(response: httpx.Response) -> str:
    read = b""
    async for data in response.aiter_bytes():
        read += data
        if len(read) >= _MAX_ERROR_BYTES:
            break
    return read[:_MAX_ERROR_BYTES].decode("utf-8", "replace").strip()
