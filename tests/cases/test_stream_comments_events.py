"""C007, C008: comments stay comments, and event names, ids and retry times stay in place."""

import pytest
from openai import AsyncOpenAI

from tests.support.backend import scripted
from tests.support.client import connected, post
from tests.support.openai_shapes import CHAT, DONE, STOP, chat, chunk_object, sse, token
from tests.support.proxy import running_proxy
from tests.support.script import END, Gate, Pause, Script, chunk, stream, stream_head

COMMENTS = [b": OPENROUTER PROCESSING\n\n", b":\n\n", b":keep-alive\r\n\r\n", b": \n\n", b":\r\r"]


def after_comments(gap_s: float) -> Script:
    """Say five comments, one at a time, and then a short answer."""
    paced = [step for comment in COMMENTS for step in (chunk(comment), Pause(gap_s))]
    return (stream_head(), *paced, *map(chunk, [token("hi"), STOP, DONE]), END)


async def test_c007_comments_before_the_answer_stay_comments() -> None:
    async with scripted(after_comments(0.02)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(COMMENTS) + token("hi") + STOP + DONE
        assert len(answer.events) == 3


@pytest.mark.parametrize("comment", COMMENTS)
async def test_c007_a_comment_goes_out_at_once(comment: bytes) -> None:
    gate = Gate()
    script = (stream_head(), chunk(comment), gate, chunk(token("x")), chunk(DONE), END)
    async with (
        scripted(script) as backend,
        running_proxy(backend.url) as proxy,
        connected(proxy.service_port) as client,
    ):
        client.ask("POST", CHAT, body=chat(stream=True))
        assert await client.body_of(len(comment), within_s=2) == comment
        gate.open()
        assert (await client.over()).body == comment + token("x") + DONE


async def test_c007_the_official_client_reads_an_answer_behind_comments() -> None:
    async with scripted(after_comments(0.02)) as backend, running_proxy(backend.url) as proxy:
        url = f"{proxy.service_url}/v1"
        async with AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
            chunks = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "x"}], stream=True
            )
            said = [part.choices[0].delta.content async for part in chunks]
        assert said == ["hi", None]


async def test_c007_comments_keep_a_silent_stream_alive() -> None:
    async with (
        scripted(after_comments(0.35)) as backend,
        running_proxy(backend.url, timeouts__between_bytes_s=1.0) as proxy,
    ):
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.whole
        assert answer.body.endswith(DONE)


async def test_c007_comments_between_tokens_and_after_the_end_stay_where_they_are() -> None:
    said = [token("a"), b": ping\n\n", token("b"), b":\n\n", DONE, b": bye\n\n"]
    async with scripted(stream(*said)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True))
        assert answer.body == b"".join(said)


async def test_c007_comments_and_the_role_are_no_first_token() -> None:
    role = sse(chunk_object({"role": "assistant", "content": ""}))
    script: Script = (
        stream_head(), chunk(COMMENTS[0]), chunk(role), Pause(0.4),
        *map(chunk, [token("hi"), STOP, DONE]), END,
    )  # fmt: skip
    async with scripted(script) as backend, running_proxy(backend.url) as proxy:
        await post(proxy.service_port, chat(stream=True))
        assert sum((await proxy.samples("ttft count", "instance")).values()) == 1
        assert sum((await proxy.samples("ttft sum", "instance")).values()) > 0.35


ANTHROPIC = [
    b'event: message_start\nid: 1\nretry: 3000\ndata: {"type":"message_start"}\n\n',
    b'event: content_block_start\nid: 2\ndata: {"type":"content_block_start","index":0}\n\n',
    b'event: ping\ndata: {"type":"ping"}\n\n',
    b'data: {"type":"content_block_delta","delta":{"text":"hi"}}\nevent: content_block_delta\n\n',
    b'event: message_stop\nid\ndata: {"type":"message_stop"}\n\n',
]
RESPONSES = [
    b'event: response.created\ndata: {"type":"response.created"}\n\n',
    b'event: response.output_text.delta\ndata: {"delta":"hi"}\n\n',
    b"event: nothing.to.say\n\n",
    b'x-vendor: 1\nevent: response.completed\ndata: {"type":"response.completed"}\n\n',
]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v1/messages", ANTHROPIC),
        ("/v1/responses", RESPONSES),
        ("/v1/chat/completions", ANTHROPIC),
        ("/v1/completions", RESPONSES),
    ],
)
async def test_c008_field_lines_keep_their_order(path: str, said: list[bytes]) -> None:
    body = chat(stream=True, max_tokens=5, input="x", prompt="x")
    async with scripted(stream(*said)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, body, path)
        assert answer.status == 200
        assert answer.body == b"".join(said)
        assert backend.requests[0].path == path
        assert backend.requests[0].body == body


async def test_c008_a_stream_without_done_ends_without_one() -> None:
    said = [sse({"type": "message_start"}), b"event: message_stop\ndata: {}\n\n"]
    async with scripted(stream(*said)) as backend, running_proxy(backend.url) as proxy:
        answer = await post(proxy.service_port, chat(stream=True), "/v1/messages")
        assert answer.whole
        assert b"[DONE]" not in answer.body
