"""protocol: what a Scheduler forwards, as the OpenAI request it stands for."""

import json
from typing import Any

import pytest

from cacheroute.core.errors import InvalidPayload
from cacheroute.planes.translate import openai_body

CHAT, COMPLETIONS = "chat/completions", "completions"


def translated(prompt: dict[str, Any], endpoint: str = CHAT) -> tuple[bool, dict[str, Any]]:
    whole = {"model": "m", "user_prompt": "hi", **prompt}
    model, stream, body = openai_body({"Request_ID": 1, "Prompt": whole}, endpoint)
    told = json.loads(body)
    assert told["model"] == model == "m"
    assert told["stream"] is stream
    return stream, told


def test_a_chat_is_one_message_of_the_user() -> None:
    _, body = translated({})
    assert body == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": False,
    }


def test_a_completion_has_a_prompt() -> None:
    _, body = translated({}, COMPLETIONS)
    assert body == {"model": "m", "prompt": "hi", "stream": False}


@pytest.mark.parametrize("stream", [True, 1, "true", " YES ", "1"])
def test_a_chat_streams_in_any_word_for_true_and_a_completion_never_does(stream: object) -> None:
    assert translated({"stream": stream})[0]
    assert not translated({"stream": stream}, COMPLETIONS)[0]


@pytest.mark.parametrize("stream", [False, 0, None, "false", "no", "", "2"])
def test_other_words_do_not_stream(stream: object) -> None:
    assert not translated({"stream": stream})[0]


def test_numbers_go_on_as_they_are_and_nulls_are_left_out() -> None:
    _, body = translated({"max_tokens": 10, "temperature": 0, "top_p": 0.25, "bs": 1})
    assert (body["max_tokens"], body["temperature"], body["top_p"]) == (10, 0, 0.25)
    assert "bs" not in body
    _, body = translated({"max_tokens": None, "temperature": None})
    assert "max_tokens" not in body
    assert "temperature" not in body


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "top_p"])
@pytest.mark.parametrize("value", ["10", True, [], {}])
def test_a_number_of_another_type_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidPayload, match=rf"^Prompt\.{name} must be a number; it is "):
        translated({name: value})


@pytest.mark.parametrize("name", ["model", "user_prompt"])
@pytest.mark.parametrize(("value", "told"), [(None, "missing"), (7, "7"), (["x"], r"\['x'\]")])
def test_model_and_prompt_must_be_there_as_text(name: str, value: object, told: str) -> None:
    with pytest.raises(InvalidPayload, match=rf"^Prompt\.{name} must be a string; it is {told}\."):
        translated({name: value})


@pytest.mark.parametrize("prompt", ["hi", [], 7])
def test_a_prompt_that_is_no_object_is_refused_by_name(prompt: object) -> None:
    with pytest.raises(InvalidPayload, match=r"^Prompt must be an object, not"):
        openai_body({"Prompt": prompt}, CHAT)


def test_everything_but_model_and_prompt_may_be_missing_and_the_rest_is_not_read() -> None:
    assert translated({"token_length": "many", "unknown": {}})[1]["model"] == "m"


def test_text_of_any_kind_survives() -> None:
    text = '\u00e4\u2028"\\\n\x00 \U0001f600'
    assert translated({"user_prompt": text})[1]["messages"][0]["content"] == text


def test_half_a_letter_goes_on_as_half_a_letter() -> None:
    """A client that cuts a text in the middle of an emoji sends one, and engines take it."""
    assert translated({"user_prompt": "cut \ud83d"})[1]["messages"][0]["content"] == "cut \ud83d"


def test_a_prompt_that_is_empty_is_a_prompt() -> None:
    assert translated({"user_prompt": ""}, COMPLETIONS)[1]["prompt"] == ""
