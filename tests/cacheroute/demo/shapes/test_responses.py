from typing import Any

import pytest

from cacheroute.demo.refusal import Refusal, engine_died
from cacheroute.demo.shapes.responses import ResponsesShape, read_responses
from tests.cacheroute.demo.shapes.draw import MODEL, make, named, stream, whole


def test_a_response_that_was_cut_is_incomplete() -> None:
    answer = whole(read_responses, ResponsesShape, {"input": "hi", "max_output_tokens": 2})
    assert (answer["object"], answer["status"]) == ("response", "incomplete")
    assert answer["incomplete_details"] == {"reason": "max_output_tokens"}
    assert answer["output"][0]["content"][0]["text"] == "This is "
    assert answer["usage"]["input_tokens_details"]["cached_tokens"] == 0
    assert answer["usage"]["output_tokens"] == 2


def test_a_response_that_ended_by_itself_is_complete() -> None:
    answer = whole(read_responses, ResponsesShape, {"input": "hi"})
    assert (answer["status"], answer["incomplete_details"]) == ("completed", None)


def test_instructions_and_messages_are_the_prompt() -> None:
    asked = {"instructions": "Be brief.", "input": [{"role": "user", "content": "hi"}]}
    spelt = {
        "input": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    }
    assert read_responses(asked, MODEL).prompts == read_responses(spelt, MODEL).prompts


def test_a_stream_has_its_events_in_order_and_numbered() -> None:
    body = {"input": "hi", "max_output_tokens": 2, "stream": True}
    events = named(stream(read_responses, ResponsesShape, body))
    assert [name.removeprefix("response.") for name, _ in events] == [
        "created", "in_progress", "output_item.added", "content_part.added",
        "output_text.delta", "output_text.delta", "output_text.done", "content_part.done",
        "output_item.done", "incomplete",
    ]  # fmt: skip
    assert [data["sequence_number"] for _, data in events] == list(range(10))
    assert "".join(data["delta"] for _, data in events[4:6]) == events[6][1]["text"]


def test_an_error_is_an_event_of_its_own() -> None:
    shape = ResponsesShape(make(read_responses, {"input": "hi"}))
    ((name, data),) = named([shape.failure(engine_died())])
    assert (name, data["code"]) == ("error", "500")


@pytest.mark.parametrize("body", [{}, {"input": 5}, {"input": []}, {"input": "hi", "tools": 1}])
def test_what_is_no_response_request_is_a_400(body: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as caught:
        read_responses(body, MODEL)
    assert caught.value.status == 400
