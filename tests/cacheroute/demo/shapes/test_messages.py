from typing import Any

import pytest

from cacheroute.demo.refusal import Refusal, engine_died
from cacheroute.demo.shapes.messages import MessagesShape, messages_prompt, read_messages
from tests.cacheroute.demo.live import chat_body
from tests.cacheroute.demo.shapes.draw import MODEL, make, named, stream, whole

TOOLS = [{"name": "weather", "input_schema": {"properties": {"city": {"enum": ["Oslo"]}}}}]


def test_a_message_has_the_form_of_anthropic() -> None:
    answer = whole(read_messages, MessagesShape, chat_body("hi", max_tokens=2))
    assert answer == {
        "id": "chatcmpl-1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "This is "}],
        "model": "tiny",
        "stop_reason": "max_tokens",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 4,
            "output_tokens": 2,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def test_a_stream_has_its_events_in_order() -> None:
    body = chat_body("hi", max_tokens=2, stream=True)
    events = named(stream(read_messages, MessagesShape, body))
    assert [name for name, _ in events] == [
        "message_start", "content_block_start", "content_block_delta", "content_block_delta",
        "content_block_stop", "message_delta", "message_stop",
    ]  # fmt: skip
    assert all(data["type"] == name for name, data in events)
    assert events[0][1]["message"]["content"] == []
    assert [data["delta"]["text"] for _, data in events[2:4]] == ["This", " is "]
    assert events[5][1]["delta"] == {"stop_reason": "max_tokens", "stop_sequence": None}
    assert events[5][1]["usage"]["output_tokens"] == 2


def test_the_system_text_is_part_of_the_prompt() -> None:
    assert messages_prompt(chat_body("hi", system="Be brief.")) == messages_prompt(
        {"messages": [{"role": "system", "content": "Be brief."}, *chat_body("hi")["messages"]]}
    )


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "weather"}])
def test_a_tool_that_is_forced_is_used(choice: dict[str, str]) -> None:
    body = chat_body("hi", max_tokens=50, tools=TOOLS, tool_choice=choice)
    answer = whole(read_messages, MessagesShape, body)
    assert answer["stop_reason"] == "tool_use"
    (block,) = answer["content"]
    assert (block["type"], block["name"], block["input"]) == (
        "tool_use", "weather", {"city": "Oslo"},
    )  # fmt: skip


def test_arguments_that_are_cut_short_are_none() -> None:
    body = chat_body("hi", max_tokens=1, tools=TOOLS, tool_choice={"type": "any"})
    answer = whole(read_messages, MessagesShape, body)
    assert (answer["stop_reason"], answer["content"][0]["input"]) == ("max_tokens", {})


def test_a_stop_sequence_is_told() -> None:
    body = chat_body("hi", max_tokens=50, stop_sequences=[" answer"])
    answer = whole(read_messages, MessagesShape, body)
    assert (answer["stop_reason"], answer["stop_sequence"]) == ("stop_sequence", " answer")


def test_an_error_is_an_event_of_its_own() -> None:
    shape = MessagesShape(make(read_messages, chat_body("hi", max_tokens=1)))
    ((name, data),) = named([shape.failure(engine_died())])
    assert (name, data["error"]["type"]) == ("error", "api_error")


@pytest.mark.parametrize(
    "body",
    [
        chat_body("hi"),
        {"max_tokens": 5},
        chat_body("hi", max_tokens=5, system="s", messages="none"),
        chat_body("hi", max_tokens=5, tool_choice={"type": "tool", "name": "gone"}, tools=TOOLS),
    ],
)
def test_what_is_no_message_request_is_a_400(body: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as caught:
        read_messages(body, MODEL)
    assert caught.value.status == 400
