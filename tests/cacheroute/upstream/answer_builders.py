"""Answers of Instances, real and made up, and what is seen in them."""

import json
from pathlib import Path
from typing import Any

from cacheroute.upstream.answer import JsonWatch, StreamWatch
from cacheroute.upstream.usage import Usage

CAPTURES = Path(__file__).parent / "vllm-0.32"
LIMIT_BYTES = 16 * 1024 * 1024

DEEP = b"[" * 5000 + b"]" * 5000
"""Deeper than any parser of Python goes."""


def captured(name: str) -> bytes:
    """Return the body of a real answer of vLLM 0.32."""
    return (CAPTURES / f"{name}.body").read_bytes()


class Ticks:
    """A clock that tells how often it was asked."""

    def __init__(self) -> None:
        self.count = 0.0

    def __call__(self) -> float:
        self.count += 1
        return self.count


def watched(*pieces: bytes, limit_bytes: int = LIMIT_BYTES) -> StreamWatch:
    watch = StreamWatch(Ticks(), limit_bytes)
    for piece in pieces:
        watch.feed(piece)
    return watch


def read(*pieces: bytes) -> Usage | None:
    watch = JsonWatch()
    for piece in pieces:
        watch.feed(piece)
    watch.close()
    return watch.usage


def event(value: object, name: str = "") -> bytes:
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(**fields: object) -> dict[str, Any]:
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields}]}
