"""An Instance measured over real sockets, and each way in which it may not play its part."""

import asyncio
import json
import socket
import statistics
from collections.abc import Callable
from typing import Any

import pytest

from cacheroute.client.faults import NotUnderstood, Refused, TimedOut, Unreachable
from cacheroute.client.measure import AnswerFailed, Measurements, NoUsage, measure
from cacheroute.client.measure_plan import WARM_UPS, Plan
from cacheroute.core.engine.profile import PROFILES
from cacheroute.core.predict.calibrate import fit_decode, fit_prefill
from tests.cacheroute.client.canned import a_peer, a_peer_saying, answer
from tests.support.demo import demo_instance

PLAN = Plan(lengths=(16, 32), samples=1, batches=(), answer_tokens=4, request_limit_s=5)
STREAM = "Content-Type: text/event-stream\r\n"
DONE = b"data: [DONE]\n\n"


def measured(url: str, plan: Plan = PLAN, **options: Any) -> Measurements:
    return asyncio.run(measure(url, "m", plan, **options))


def event(**chunk: object) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def pieces(count: int = 4) -> bytes:
    return event(choices=[{"delta": {"content": "word"}}]) * count


def usage(request: bytes, **more: object) -> bytes:
    """Count the words of a request, as an engine with one token per word would."""
    prompt = len(json.loads(request.partition(b"\r\n\r\n")[2])["messages"][0]["content"].split())
    counts = {"prompt_tokens": prompt, "completion_tokens": 4, **more}
    return event(choices=[], usage=counts)


def an_engine(
    refuses: Callable[[dict[str, Any]], bytes | None] = lambda _: None, **more: object
) -> Callable[[bytes, socket.socket], None]:
    def reply(request: bytes, connection: socket.socket) -> None:
        body = json.loads(request.partition(b"\r\n\r\n")[2])
        refused = refuses(body)
        if refused is not None:
            connection.sendall(refused)
            return
        connection.sendall(
            answer(pieces() + usage(request, **more) + DONE, headers=STREAM),
        )

    return reply


def no(status: str, message: str) -> bytes:
    body = json.dumps({"error": {"message": message}}).encode()
    return answer(body, status=status, headers="Content-Type: application/json\r\n")


def test_what_is_measured_predicts_what_was_not() -> None:
    plan = Plan(lengths=(96, 160, 256, 384, 512), samples=2, batches=(2,), answer_tokens=8, seed=3)
    speed = 2.0
    profile = PROFILES["llama70b"]
    with demo_instance("--profile", "llama70b", model="m", speed=speed) as url:
        found = measured(url, plan)

    prefill, decode = fit_prefill(found.prefill), fit_decode(found.decode)
    assert found.left_out == ()
    assert found.requests == plan.requests
    assert len(found.prefill) == 10
    assert {sample.batch for sample in found.decode} == {1, 2}
    assert prefill.p50_ratio < 0.15
    assert decode.p50_ratio < 0.15
    for tokens in (128, 448):
        pairs = tokens * (tokens + 1) // 2
        step_s = profile.step_s(tokens=tokens, pairs=pairs, context_tokens=0)
        assert prefill.model.predict_ms(tokens) == pytest.approx(step_s * 1e3 / speed, rel=0.15)


def test_prompts_are_counted_by_the_instance_and_of_the_wanted_length() -> None:
    with demo_instance(model="m", speed=50) as url:
        found = measured(url, Plan(lengths=(20, 90, 400), samples=3, batches=(), seed=5))

    sizes = sorted(sample.uncached_tokens for sample in found.prefill)
    assert statistics.median(sizes[:3]) == pytest.approx(20, abs=4)
    assert statistics.median(sizes[3:6]) == pytest.approx(90, rel=0.1)
    assert statistics.median(sizes[6:]) == pytest.approx(400, rel=0.1)


def test_no_prompt_finds_another_ones_beginning_but_a_context_is_found() -> None:
    plan = Plan(lengths=(600, 1200), contexts=(1100,), samples=2, batches=())
    with demo_instance("--block-size", "16", model="m", speed=50) as url:
        found = measured(url, plan)

    contexts = sorted(sample.context_tokens for sample in found.prefill)
    assert max(contexts[:4]) <= 16  # the template
    assert min(contexts[4:]) > 1000
    assert len(contexts) == 8


def test_how_long_it_takes_is_told_and_every_request_is_counted() -> None:
    told: list[float] = []
    counted: list[int] = []
    with a_peer(an_engine()) as url:
        measured(url, on_start=told.append, on_answer=lambda: counted.append(1))

    assert len(counted) == PLAN.requests == len(WARM_UPS) + 2
    [expected_s] = told
    assert 0 <= expected_s <= PLAN.time_limit_s


def test_the_key_is_sent_when_there_is_one() -> None:
    heads: list[bytes] = []

    def reply(request: bytes, connection: socket.socket) -> None:
        heads.append(request.lower())
        an_engine()(request, connection)

    with a_peer(reply) as url:
        measured(url, api_key="s3cret")
        measured(url)

    assert b"authorization: bearer s3cret" in heads[0]
    assert b"authorization" not in heads[-1]


def test_an_engine_that_does_not_know_our_extras_is_asked_without() -> None:
    bodies: list[dict[str, Any]] = []

    def refuses(body: dict[str, Any]) -> bytes | None:
        bodies.append(body)
        return no("400 Bad Request", "unknown field") if "ignore_eos" in body else None

    with a_peer(an_engine(refuses)) as url:
        found = measured(url)

    assert ["ignore_eos" in body for body in bodies] == [True] + [False] * PLAN.requests
    assert len(found.prefill) == 2


def test_prompts_that_are_too_long_are_left_out_and_said() -> None:
    def refuses(body: dict[str, Any]) -> bytes | None:
        words = len(body["messages"][0]["content"].split())
        return no("400 Bad Request", "too long") if words > 200 else None

    plan = Plan(lengths=(32, 500, 900), samples=2, batches=(), answer_tokens=4)
    counted: list[int] = []
    with a_peer(an_engine(refuses)) as url:
        found = measured(url, plan, on_answer=lambda: counted.append(1))

    assert len(found.prefill) == 2
    assert sorted(found.left_out) == [
        "2 requests of 500 tokens, which the engine does not take",
        "2 requests of 900 tokens, which the engine does not take",
    ]
    assert len(counted) == plan.requests


def test_contexts_need_an_engine_that_tells_of_its_cache() -> None:
    plan = Plan(lengths=(16, 32), contexts=(50,), samples=1, batches=(), answer_tokens=4)
    with a_peer(an_engine()) as url:
        found = measured(url, plan)

    assert [sample.context_tokens for sample in found.prefill] == [0, 0]
    assert found.left_out == ("2 contexts, since the engine does not tell what its cache had",)


def test_what_was_cached_was_not_computed() -> None:
    with a_peer(an_engine(prompt_tokens_details={"cached_tokens": 6})) as url:
        found = measured(url)

    assert {(s.uncached_tokens, s.context_tokens) for s in found.prefill} == {(10, 6), (26, 6)}


def test_when_the_time_is_over_what_there_is_counts() -> None:
    def reply(request: bytes, connection: socket.socket) -> None:
        body = json.loads(request.partition(b"\r\n\r\n")[2])
        if len(body["messages"][0]["content"].split()) > 900:
            connection.recv(1)  # silent until the client has had enough
        else:
            an_engine()(request, connection)

    plan = Plan(lengths=(8, 16, 1000), samples=4, batches=(), answer_tokens=4, time_limit_s=1.5)
    with a_peer(reply) as url:
        found = measured(url, plan)

    sent = found.requests - len(WARM_UPS)
    assert found.left_out == (f"{12 - sent} requests, since 1.5 s were over",)
    assert len(found.prefill) == sent


# What goes wrong


@pytest.mark.parametrize("host", ["x" * 70, "a..b", "xn--\u00e9", "[::1"])
def test_a_name_that_nobody_can_have_is_unreachable(host: str) -> None:
    with pytest.raises(Unreachable):
        asyncio.run(measure(f"http://{host}:1", "m"))


def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"

    with pytest.raises(Unreachable) as caught:
        measured(url)

    assert caught.value.cause == "connection refused"


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(request_limit_s=0.1), "did not answer within 0.1 s"),
        (Plan(time_limit_s=0.1), "did not answer within 0.1 s"),
    ],
)
def test_silence_ends(plan: Plan, words: str) -> None:
    def silent(_: bytes, connection: socket.socket) -> None:
        connection.recv(1)

    with a_peer(silent) as url, pytest.raises(TimedOut) as caught:
        measured(url, plan)

    assert words in caught.value.message


@pytest.mark.parametrize(
    ("raw", "fault", "words"),
    [
        (no("404 Not Found", "no model m"), Refused, "answered 404: no model m"),
        (no("401 Unauthorized", "key?"), Refused, "answered 401: key?"),
        (no("500 Oh", "x" * 200_000), Refused, "answered 500: {"),
        (no("400 Bad Request", "no streams"), Refused, "answered 400: no streams"),
        (answer(b"<html>"), NotUnderstood, "it is of no kind, not a stream of events"),
        (
            answer(b"{}", headers="Content-Type: application/json\r\n"),
            NotUnderstood,
            "it is application/json, not a stream of events",
        ),
        (answer(b"data: {oops\n\n", headers=STREAM), NotUnderstood, "an event is no JSON"),
        (answer(pieces() + DONE, headers=STREAM), NoUsage, "how many tokens it has read"),
        (
            answer(event(usage={"prompt_tokens": 5}) + DONE, headers=STREAM),
            NotUnderstood,
            "it holds no text",
        ),
        (
            answer(
                pieces(1) + event(usage={"prompt_tokens": 5, "completion_tokens": 4}),
                headers=STREAM,
            ),
            NotUnderstood,
            "it comes in one piece",
        ),
        (
            answer(pieces() + event(error={"message": "engine died"}), headers=STREAM),
            AnswerFailed,
            "began to answer and failed: engine died",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n" + STREAM.encode() + b"\r\n",
            NotUnderstood,
            "",
        ),
        (b"SSH-2.0-x\r\n", NotUnderstood, ""),
    ],
    ids=[
        "no model", "no key", "a flood", "no streams", "a page", "no stream", "no JSON",
        "no usage", "no text", "one piece", "an error", "an end", "no HTTP",
    ],
)  # fmt: skip
def test_an_instance_that_cannot_be_measured_is_one_fault_with_its_words(
    raw: bytes, fault: type[Exception], words: str
) -> None:
    with a_peer_saying(raw) as url, pytest.raises(fault) as caught:
        measured(url)

    assert words in str(caught.value)
    assert url in str(caught.value)


def test_one_of_several_that_fails_ends_all() -> None:
    plan = Plan(lengths=(16, 32), samples=1, batches=(3,), answer_tokens=4)
    asked: list[int] = []

    def refuses(_: dict[str, Any]) -> bytes | None:
        asked.append(1)
        return no("503 Busy", "queue is full") if len(asked) > len(WARM_UPS) else None

    with a_peer(an_engine(refuses)) as url, pytest.raises(Refused, match="queue is full"):
        measured(url, plan)


async def test_who_stops_it_leaves_no_request_behind() -> None:
    with demo_instance("--profile", "llama70b", model="m", speed=0.5) as url:
        began = asyncio.Event()
        task = asyncio.ensure_future(
            measure(url, "m", Plan(), on_answer=began.set),
        )
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert others == set()
