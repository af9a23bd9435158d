import json

from cacheroute.demo.refusal import engine_died
from cacheroute.demo.shapes.chat import ChatShape, read_chat
from cacheroute.demo.shapes.shape import OpenAiStream, event, usage_of
from tests.cacheroute.demo.live import chat_body
from tests.cacheroute.demo.shapes.draw import make


def test_usage_always_tells_the_cached_tokens() -> None:
    reply = make(read_chat, chat_body("hi", max_tokens=3))
    reply.choices[0].emitted = 2
    assert usage_of(reply) == {
        "prompt_tokens": 4,
        "total_tokens": 6,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": None,
    }


def test_a_failed_stream_ends_with_the_error_and_done_as_vllm_ends_it() -> None:
    stream = OpenAiStream(make(read_chat, chat_body("hi")), "x")
    failure = stream.failure(engine_died()).decode().split("\n\n")
    assert json.loads(failure[0].removeprefix("data: "))["error"]["code"] == 500
    assert failure[1:] == ["data: [DONE]", ""]


def test_a_named_event_names_itself_in_its_data() -> None:
    assert event("ping", {"a": 1}) == b'event: ping\ndata: {"type":"ping","a":1}\n\n'


def test_the_shape_of_an_endpoint_is_a_shape() -> None:
    assert ChatShape(make(read_chat, chat_body("hi"))).start.startswith(b'data: {"id":"chatcmpl-1"')
