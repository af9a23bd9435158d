"""Questions sent as real HTTP through a Scheduler: each at its own time, or one after another.

At their own times they do not wait for each other, so a slow way gets no mercy. One after
another, each finds an idle Instance: that is how it is measured.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence

import httpx

from cacheroute.demo.knowledge.mix import Question
from cacheroute.demo.knowledge.outcome import AnswerReader, Outcome
from cacheroute.wire import paths

ANSWER_TOKENS = 8
_TIMEOUT = httpx.Timeout(connect=5.0, read=120.0, write=30.0, pool=None)
_MAX_REFUSAL_BYTES = 4096
_PAUSE_S = 0.02
"""After each answer that is waited for, so that the last step of the engine is over."""

Done = Callable[[Outcome], object]


def request_body(question: Question, *, model: str, mode: str) -> bytes:
    """Return the chat request that a client of a Scheduler makes."""
    return json.dumps(
        {
            "model": model,
            "messages": [{"role": "user", "content": question.prompt}],
            "max_tokens": ANSWER_TOKENS,
            "temperature": 0,
            "stream": True,
            "RAG": True,
            "knowledge_ids": [question.kid],
            "Injection_type": mode,
        }
    ).encode()


async def ask_on_time(
    questions: Sequence[Question],
    *,
    base_url: str,
    model: str,
    mode: str,
    speed: float,
    on_done: Done,
) -> list[Outcome]:
    """Ask each question when it is due, `speed` times as fast as it was made; in their order."""
    bodies = [request_body(question, model=model, mode=mode) for question in questions]
    async with _client(base_url) as client:
        began_s = time.perf_counter()
        tasks = []
        async with asyncio.TaskGroup() as under_way:
            for question, body in zip(questions, bodies, strict=True):
                due_s = began_s + question.arrives_s / speed
                await asyncio.sleep(max(0.0, due_s - time.perf_counter()))
                tasks.append(under_way.create_task(_ask(client, question, body, on_done)))
    return [task.result() for task in tasks]


async def ask_in_turn(
    questions: Sequence[tuple[Question, str]], *, base_url: str, model: str, on_done: Done
) -> list[Outcome]:
    """Ask one question after another, each in the mode beside it."""
    outcomes = []
    async with _client(base_url) as client:
        for question, mode in questions:
            body = request_body(question, model=model, mode=mode)
            outcomes.append(await _ask(client, question, body, on_done))
            await asyncio.sleep(_PAUSE_S)
    return outcomes


def _client(base_url: str) -> httpx.AsyncClient:
    # The way is named by its URL; a proxy from the environment would stand between.
    return httpx.AsyncClient(
        base_url=base_url,
        timeout=_TIMEOUT,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
        trust_env=False,
        verify=base_url.startswith("https:"),
    )


async def _ask(
    client: httpx.AsyncClient, question: Question, body: bytes, on_done: Done
) -> Outcome:
    reader = AnswerReader()
    failure: str | None = None
    headers = {"content-type": "application/json"}
    sent_s = time.perf_counter()
    try:
        async with client.stream(
            "POST", paths.CHAT_COMPLETIONS, content=body, headers=headers
        ) as response:
            if response.status_code == 200:
                async for data in response.aiter_raw():
                    reader.take(data, time.perf_counter())
            else:
                failure = f"HTTP {response.status_code}: {await _refusal(response)}"
    except httpx.HTTPError as problem:
        failure = f"{type(problem).__name__}: {problem}"
    except ValueError as problem:
        failure = f"an event could not be read: {problem}"
    outcome = reader.outcome(
        number=question.number,
        text_tokens=question.text_tokens,
        sent_s=sent_s,
        failure=failure,
    )
    on_done(outcome)
    return outcome


async def _refusal(response: httpx.Response) -> str:
    read = b""
    async for data in response.aiter_raw():
        read += data
        if len(read) >= _MAX_REFUSAL_BYTES:
            break
    return read[:_MAX_REFUSAL_BYTES].decode("utf-8", "replace").strip()
