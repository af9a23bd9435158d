"""What is sent and answered: bodies of real sizes, and a backend's answers, made once.

A request says in its `user` field how its stream is to be paced, so the backend needs no
control channel: `events=200 every_us=20000`.
"""

import functools
import json
import random
import re
from typing import Literal

MODEL = "bench-model"
PATH = "/v1/chat/completions"
EVENTS_PER_STREAM = 200
ANSWER_BYTES = 600
BODIES = 64
"""How many different bodies a load takes turns with; groups of eight share a system prompt."""

Size = Literal["2k", "30k"]
BYTES_OF: dict[Size, int] = {"2k": 2048, "30k": 30 * 1024}

_PACE = re.compile(rb'"events=(\d+) every_us=(\d+)"')
_WORDS = re.findall(
    r"\w+",
    "the of and to in is that for it as was with be by on not he his but at are this have from "
    "or had an they which one you were her all she there would their we him been has when who",
)


def _text(chance: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        words.append(chance.choice(_WORDS))
        length += len(words[-1]) + 1
    return " ".join(words)[:size]


def _body(size: int, group: int, number: int, pace: str | None) -> bytes:
    system, user = {"role": "system", "content": ""}, {"role": "user", "content": ""}
    value: dict[str, object] = {
        "model": MODEL,
        "messages": [system, user],
        "max_tokens": 200,
        "temperature": 0.7,
        "stream": pace is not None,
    }
    if pace is not None:
        value["user"] = pace
    room = size - len(json.dumps(value))
    shared = room * 3 // 4
    system["content"] = _text(random.Random(1000 + group), shared)
    user["content"] = _text(random.Random(100_000 * group + number), room - shared)
    return json.dumps(value).encode()


@functools.cache
def requests(size: Size, every_us: int | None = None) -> list[bytes]:
    """Return whole requests; with `every_us` they ask for a stream of that pace."""
    pace = None if every_us is None else f"events={EVENTS_PER_STREAM} every_us={every_us}"
    found = []
    for number in range(BODIES):
        body = _body(BYTES_OF[size], number % 8, number // 8, pace)
        head = (
            f"POST {PATH} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            f"Accept: */*\r\nAuthorization: Bearer sk-bench\r\nUser-Agent: bench/1\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        found.append(head.encode() + body)
    return found


def pace_of(request: bytes) -> tuple[int, int] | None:
    """Return how many events a request asks for and the microseconds between two of them."""
    found = _PACE.search(request, max(0, len(request) - 128))
    return None if found is None else (int(found[1]), int(found[2]))


def _json_answer() -> bytes:
    usage = '{"prompt_tokens":512,"total_tokens":612,"completion_tokens":100}'
    start = (
        f'{{"id":"chatcmpl-0123456789abcdef","object":"chat.completion","created":1760000000,'
        f'"model":"{MODEL}","choices":[{{"index":0,"message":{{"role":"assistant","content":"'
    )
    end = f'"}},"logprobs":null,"finish_reason":"stop"}}],"usage":{usage}}}'
    return (start + "lorem " * ANSWER_BYTES)[: ANSWER_BYTES - len(end)].encode() + end.encode()


JSON_BODY = _json_answer()
JSON_ANSWER = (
    b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(JSON_BODY), JSON_BODY)
)
JSON_END = JSON_BODY[-24:]


def _event(delta: str, finish: str = "null") -> bytes:
    return (
        f'data: {{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk",'
        f'"created":1760000000,"model":"{MODEL}","choices":[{{"index":0,"delta":{delta},'
        f'"logprobs":null,"finish_reason":{finish}}}]}}\n\n'
    ).encode()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nserver: uvicorn\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
STREAM_FIRST = _chunk(_event('{"role":"assistant","content":""}'))
STREAM_TOKEN = _chunk(_event('{"content":" a token of text"}'))
STREAM_LAST = _chunk(_event("{}", '"stop"') + b"data: [DONE]\n\n") + b"0\r\n\r\n"
EVENTS_BEYOND_COUNT = 1
"""The [DONE] mark, which a count of events includes and a pace does not."""


def page(body: bytes) -> bytes:
    """Return a whole answer for a probe."""
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        len(body),
        body,
    )


MODELS_PAGE = page(
    json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode()
)
OTHER_PAGE = page(b"{}")
