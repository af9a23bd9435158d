"""protocol 2.2: the body that an Instance gets."""

import json
from typing import Any

import pytest

from cacheroute.core.injection.prompt import render_body
from cacheroute.core.task import KVCACHE, TEXT, Task
from tests.cacheroute.core.injection.injection_builders import a_task

MODES = [TEXT, KVCACHE, "neither", ""]
NUMBERS: dict[str, Any] = {"max_tokens": 10, "temperature": 0, "top_p": 0.25}


def body_of(task: Task, context: str = "", mode: str = KVCACHE) -> dict[str, Any]:
    body = json.loads(render_body(task, context, mode))
    assert isinstance(body, dict)
    return body


@pytest.mark.parametrize("mode", MODES)
def test_without_knowledge_it_is_the_plain_body_to_the_byte(mode: str) -> None:
    chat = render_body(a_task(**NUMBERS), "", mode)
    assert chat == (
        b'{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,'
        b'"max_tokens":10,"temperature":0,"top_p":0.25}'
    )
    completion = render_body(a_task(endpoint="completions", stream=False), "", mode)
    assert completion == b'{"model":"m","prompt":"hi","stream":false}'


def test_kv_needs_a_first_message_that_is_the_knowledge_and_nothing_else() -> None:
    assert body_of(a_task(), "C\u00e4\n", KVCACHE)["messages"] == [
        {"role": "system", "content": "C\u00e4\n"},
        {"role": "user", "content": "hi"},
    ]


def test_text_is_introduced_by_a_word_in_a_first_message() -> None:
    system, user = body_of(a_task(), "some knowledge", TEXT)["messages"]
    assert system["role"] == "system"
    assert system["content"] == "Background:\nsome knowledge"
    assert user == {"role": "user", "content": "hi"}


def test_a_completion_has_the_knowledge_in_front_of_its_prompt() -> None:
    task = a_task(endpoint="completions")
    assert body_of(task, "C", KVCACHE)["prompt"] == "C\nhi"
    text = body_of(task, "C", TEXT)["prompt"]
    assert text == "Background:\nC\nhi"


def test_the_wrapper_is_the_same_for_both_endpoints() -> None:
    wrapped = body_of(a_task(), "C", TEXT)["messages"][0]["content"]
    assert body_of(a_task(endpoint="completions"), "C", TEXT)["prompt"] == f"{wrapped}\nhi"


@pytest.mark.parametrize("mode", ["neither", ""])
def test_in_a_mode_that_means_nothing_the_knowledge_is_left_out(mode: str) -> None:
    assert render_body(a_task(), "C", mode) == render_body(a_task(), "", mode)


@pytest.mark.parametrize("mode", [TEXT, KVCACHE])
def test_knowledge_changes_nothing_but_the_messages(mode: str) -> None:
    plain, injected = body_of(a_task(**NUMBERS)), body_of(a_task(**NUMBERS), "C", mode)
    assert list(plain) == list(injected)
    assert plain | {"messages": injected["messages"]} == injected


def test_a_completion_never_streams() -> None:
    assert body_of(a_task(endpoint="completions", stream=True))["stream"] is False
    assert body_of(a_task(stream=False))["stream"] is False


@pytest.mark.parametrize("mode", [TEXT, KVCACHE])
def test_half_a_letter_goes_on_as_half_a_letter(mode: str) -> None:
    body = body_of(a_task(user_prompt="cut \ud83d"), "C", mode)
    assert body["messages"][1]["content"] == "cut \ud83d"
    body = body_of(a_task(), "cut \ud83d", mode)
    assert "cut \ud83d" in body["messages"][0]["content"]
