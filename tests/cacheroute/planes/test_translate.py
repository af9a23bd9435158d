"""What a Scheduler forwards, read as a Task and as the OpenAI request it stands for."""

import json
from typing import Any

import pytest

from cacheroute.core.errors import InvalidPayload
from cacheroute.core.injection.prompt import render_body
from cacheroute.core.task import Task
from cacheroute.planes.translate import MAX_KNOWLEDGE_IDS, read_task

CHAT, COMPLETIONS = "chat/completions", "completions"


def translated(prompt: dict[str, Any], endpoint: str = CHAT) -> tuple[bool, dict[str, Any]]:
    whole = {"model": "m", "user_prompt": "hi", **prompt}
    task = read_task({"Request_ID": 1, "Prompt": whole}, endpoint)
    told = json.loads(render_body(task, "", task.mode))
    assert told["model"] == task.model == "m"
    assert told["stream"] is task.stream
    return task.stream, told


def task_of(service: dict[str, Any], **task: Any) -> Task:
    prompt = {"model": "m", "user_prompt": "12345678"}
    whole = {"Request_ID": 7, "Prompt": prompt, "Service": service, "Task": task}
    return read_task(whole, CHAT)


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


@pytest.mark.parametrize("name", ["max_tokens", "temperature", "top_p"])
@pytest.mark.parametrize("value", ["1e999", "-1e999", "NaN"])
def test_a_number_that_is_not_finite_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidPayload, match=rf"^Prompt\.{name} must be a finite number; it is "):
        translated({name: json.loads(value)})


@pytest.mark.parametrize("name", ["model", "user_prompt"])
@pytest.mark.parametrize(("value", "told"), [(None, "missing"), (7, "7"), (["x"], r"\['x'\]")])
def test_model_and_prompt_must_be_there_as_text(name: str, value: object, told: str) -> None:
    with pytest.raises(InvalidPayload, match=rf"^Prompt\.{name} must be a string; it is {told}\."):
        translated({name: value})


@pytest.mark.parametrize("prompt", ["hi", [], 7])
def test_a_prompt_that_is_no_object_is_refused_by_name(prompt: object) -> None:
    with pytest.raises(InvalidPayload, match=r"^Prompt must be an object, not"):
        read_task({"Prompt": prompt}, CHAT)


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


# Knowledge


def test_a_request_without_a_word_on_knowledge_wants_none() -> None:
    task = task_of({})
    assert not task.has_knowledge
    assert (task.mode, task.kdn_address, task.knowledge_tokens) == ("kvcache", "", None)
    assert task.prompt_tokens == 2


def test_knowledge_is_read_as_it_was_sent() -> None:
    task = task_of(
        {
            "Enable_know_injection": "true",
            "Injection_type": "Text",
            "Knowledge_List": ["AB", "cd"],
            "Knowledge_length": 512.0,
        },
        KDN_server_addr=" 10.0.0.7:9101 ",
    )
    assert task.has_knowledge
    assert (task.mode, task.knowledge_ids, task.knowledge_tokens) == ("text", ("AB", "cd"), 512)
    assert task.kdn_address == "10.0.0.7:9101"


@pytest.mark.parametrize("count", ["many", None, -1, 0, 0.4, True, float("nan"), []])
def test_a_count_that_is_none_is_not_known(count: object) -> None:
    assert task_of({"Knowledge_length": count}).knowledge_tokens is None


@pytest.mark.parametrize(
    ("given", "read"), [(9, 9), ("r-9", "r-9"), (True, "True"), (None, "None")]
)
def test_any_id_will_do(given: object, read: object) -> None:
    prompt = {"model": "m", "user_prompt": "x"}
    assert read_task({"Request_ID": given, "Prompt": prompt}, CHAT).request_id == read


def test_fields_that_have_no_effect_are_named() -> None:
    assert task_of({"Enable_PD_Disaggregation": True}).ignored == ("Enable_PD_Disaggregation",)
    assert task_of({"Enable_PD_Disaggregation": False}).ignored == ()


@pytest.mark.parametrize(
    ("service", "what"),
    [
        ({"Knowledge_List": "abc"}, "Knowledge_List must be a list of ids"),
        ({"Knowledge_List": [1]}, "Knowledge_List must be a list of ids"),
        ({"Knowledge_List": ["a"] * (MAX_KNOWLEDGE_IDS + 1)}, "may name 256 pieces, not 257"),
        ({"Knowledge_List": ["a" * 129]}, "has 129 characters"),
        ({"Injection_type": 7}, "Injection_type must be a string; it is 7"),
        ({"Knowledge_List": ["\ud83d"]}, "An id in Service.Knowledge_List is not text"),
        ({"Injection_type": "\ud83d"}, "Injection_type is not text"),
    ],
)
def test_knowledge_of_a_wrong_shape_is_refused_by_name(service: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidPayload, match=what):
        task_of(service)


def test_an_address_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidPayload, match=r"KDN_server_addr must be a string; it is 9101"):
        task_of({}, KDN_server_addr=9101)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("KDN://Node-1:9101/", "node-1:9101"),
        ("http://10.0.0.7:9101", "10.0.0.7:9101"),
        (" nowhere ", "nowhere"),
    ],
)
def test_an_address_has_one_spelling(sent: str, read: str) -> None:
    assert task_of({}, KDN_server_addr=sent).kdn_address == read
