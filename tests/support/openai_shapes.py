"""Requests and answers in OpenAI's shapes, with only what a test names spelled out."""

import json
from typing import Any

DONE = b"data: [DONE]\n\n"
CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
MODEL = "m"


def chat(text: str = "hello", *, stream: bool = False, **fields: object) -> bytes:
    """Return the body of a chat request."""
    messages = [{"role": "user", "content": text}]
    body = {"model": MODEL, "messages": messages, "stream": stream, **fields}
    return json.dumps(body).encode()


def sse(value: object) -> bytes:
    """Return one event that carries this value as JSON."""
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk_object(delta: object, **fields: object) -> dict[str, Any]:
    """Return a chat.completion.chunk with one choice."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
        **fields,
    }


def token(text: str) -> bytes:
    """Return the event of one content delta."""
    return sse(chunk_object({"content": text}))


def tokens(count: int) -> list[bytes]:
    """Return `count` content events, each with a text of its own."""
    return [token(f"t{n} ") for n in range(count)]


STOP = sse(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    }
)
"""The event that ends a choice."""

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def completion(text: str = "hi", **message: object) -> dict[str, Any]:
    """Return a chat.completion."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }
