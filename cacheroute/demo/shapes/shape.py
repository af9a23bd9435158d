"""What every endpoint's shape can do, and the few pieces that several of them share."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from cacheroute.demo.params import Body, ServedModel
from cacheroute.demo.refusal import Refusal
from cacheroute.demo.reply import Ask, Choice, Reply

FINGERPRINT = "vllm-0.32.0-demo"
DONE = b"data: [DONE]\n\n"

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode


class Shape(Protocol):
    """How one reply looks on the wire."""

    def opening(self) -> bytes:
        """Return the events that come just before the first token."""
        ...

    def piece(self, choice: Choice) -> bytes:
        """Return the events for the token that a choice has just got."""
        ...

    def closing(self) -> bytes:
        """Return the events after the last token."""
        ...

    def failure(self, refusal: Refusal) -> bytes:
        """Return the events that end a stream that has failed."""
        ...

    def whole(self) -> bytes:
        """Return the body of an answer that is not streamed."""
        ...


ReadAsk = Callable[[Body, ServedModel], Ask]
DrawShape = Callable[[Reply], Shape]


def usage_of(reply: Reply) -> dict[str, Any]:
    """Return the usage object of the OpenAI endpoints; cached tokens are always told."""
    return {
        "prompt_tokens": reply.prompt_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
        "completion_tokens": reply.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        "completion_tokens_details": None,
    }


def event(name: str, data: dict[str, Any]) -> bytes:
    """Return a named server-sent event whose data names it once more."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), encode({"type": name, **data}))


class OpenAiStream:
    """The chunks that chat and text completions have in common."""

    def __init__(self, reply: Reply, object_name: str) -> None:
        self.reply = reply
        head = {
            "id": reply.id,
            "object": object_name,
            "created": reply.created_at_s,
            "model": reply.model,
        }
        self.start = b"data: " + encode(head)[:-1] + b',"choices":['
        """A chunk up to its first choice."""
        self._usage_everywhere = reply.ask.params.continuous_usage
        self._usage_at_end = reply.ask.params.include_usage

    def end(self, *, last: bool = False) -> bytes:
        """Return a chunk from its last choice on."""
        usage = b',"usage":' + encode(usage_of(self.reply)) if self._usage_everywhere else b""
        if last and not self._usage_at_end:
            usage += b',"system_fingerprint":"%b"' % FINGERPRINT.encode()
        return b"]" + usage

    def closing(self) -> bytes:
        """Return the usage chunk, if it was asked for, and the end mark."""
        if not self._usage_at_end:
            return DONE
        usage = usage_of(self.reply)
        del usage["completion_tokens_details"]
        tail = b'],"usage":%b,"system_fingerprint":"%b"}\n\n'
        return self.start + tail % (encode(usage), FINGERPRINT.encode()) + DONE

    def failure(self, refusal: Refusal) -> bytes:
        """Return the error as an event, and the end mark: vLLM ends failed streams like that."""
        return b"data: " + refusal.body + b"\n\n" + DONE
