"""Questions over a real socket: what is sent and when, and what counts as failed."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from cacheroute.demo.knowledge.asking import ask_in_turn, ask_on_time, request_body
from cacheroute.demo.knowledge.mix import Question, make_questions
from cacheroute.demo.knowledge.outcome import Outcome

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
TEXT = b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n'
META = (
    b'event: cacheroute_meta\ndata: {"trace": {"text_actual_path": "text_inject",'
    b' "predict_total_ms": 5, "actual_total_ms": 4}, "error": null}\n\n'
)
DONE = b"data: [DONE]\n\n"
ANSWER = OK + TEXT + META + DONE
QUESTIONS = make_questions(3, seed=1, per_second=50.0)


class AServer:
    """Answers every request the same way, and remembers what was asked."""

    def __init__(self, answer: bytes, *, together: int = 0) -> None:
        self.asked: list[dict[str, Any]] = []
        self.most_at_once = 0
        self._answer = answer
        self._together = together
        self._here = 0
        self._all_here = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        self.asked.append(json.loads(await reader.readexactly(length)))
        self._here += 1
        self.most_at_once = max(self.most_at_once, self._here)
        if self._here >= self._together:
            self._all_here.set()
        await self._all_here.wait()
        writer.write(self._answer)
        await writer.drain()
        self._here -= 1
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def listening(server: AServer) -> AsyncIterator[str]:
    socket = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    async with socket:
        yield f"http://127.0.0.1:{socket.sockets[0].getsockname()[1]}"


async def outcomes_of(answer: bytes, questions: tuple[Question, ...] = QUESTIONS[:1]) -> Outcome:
    async with listening(AServer(answer)) as url:
        [outcome] = await ask_on_time(
            questions, base_url=url, model="m", mode="text", speed=1.0, on_done=lambda _: None
        )
    return outcome


def test_a_question_names_its_knowledge_and_how_it_is_to_come() -> None:
    body = json.loads(request_body(QUESTIONS[0], model="m", mode="kvcache"))

    assert body["messages"] == [{"role": "user", "content": QUESTIONS[0].prompt}]
    assert (body["model"], body["stream"], body["RAG"]) == ("m", True, True)
    assert body["knowledge_ids"] == [QUESTIONS[0].kid]
    assert body["Injection_type"] == "kvcache"


async def test_questions_on_time_do_not_wait_for_each_other() -> None:
    server, done = AServer(ANSWER, together=3), list[Outcome]()
    async with listening(server) as url:
        outcomes = await ask_on_time(
            QUESTIONS, base_url=url, model="m", mode="text", speed=1000.0, on_done=done.append
        )

    assert server.most_at_once == 3
    assert [outcome.number for outcome in outcomes] == [1, 2, 3]
    assert [outcome.failure for outcome in outcomes] == [None, None, None]
    assert all((outcome.ttft_ms or 0) > 0 for outcome in outcomes)
    assert len(done) == 3


async def test_questions_in_turn_wait_for_each_other_and_have_a_mode_each() -> None:
    server = AServer(ANSWER)
    modes = ("text", "kvcache", "text")
    async with listening(server) as url:
        outcomes = await ask_in_turn(
            list(zip(QUESTIONS, modes, strict=True)),
            base_url=url, model="m", on_done=lambda _: None,
        )  # fmt: skip

    assert server.most_at_once == 1
    assert [body["Injection_type"] for body in server.asked] == list(modes)
    assert [(o.predicted_ms, o.actual_ms) for o in outcomes] == [(5, 4)] * 3


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OK + TEXT + META, "the stream ended without [DONE]"),
        (b"HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy", "HTTP 503: busy"),
        (OK + b"data: [1]\n\n", "an event could not be read"),
        (b"", "RemoteProtocolError"),
    ],
)
async def test_whatever_goes_wrong_is_an_outcome(answer: bytes, words: str) -> None:
    outcome = await outcomes_of(answer)

    assert words in str(outcome.failure)


async def test_a_refusal_without_end_is_cut() -> None:
    outcome = await outcomes_of(b"HTTP/1.1 500 No\r\nContent-Length: 9000\r\n\r\n" + b"x" * 9000)

    assert len(str(outcome.failure)) < 5000


async def test_nobody_there_is_an_outcome_too() -> None:
    [outcome] = await ask_on_time(
        QUESTIONS[:1],
        base_url="http://127.0.0.1:1",
        model="m",
        mode="text",
        speed=1.0,
        on_done=lambda _: None,
    )

    assert "ConnectError" in str(outcome.failure)
