import pytest

from cacheroute.core.errors import InvalidJson, InvalidPayload
from cacheroute.demo.scheduler.ask import CHAT, COMPLETION, read_ask
from tests.cacheroute.demo.scheduler.parts import asked, chat, completed


def test_a_chat_of_one_message_is_that_message() -> None:
    ask = asked()

    assert (ask.endpoint, ask.model, ask.user_prompt, ask.question) == (CHAT, "m", "hi", "hi")


def test_what_is_left_out_is_as_published() -> None:
    ask = asked()

    assert (ask.stream, ask.max_tokens, ask.temperature, ask.top_p) == (False, 1000, 1.0, 1.0)
    assert (ask.wants_knowledge, ask.mode, ask.knowledge_ids) == (False, "kvcache", None)


def test_a_conversation_goes_on_as_a_whole_and_is_looked_up_by_its_last_question() -> None:
    body = chat(("system", "Be brief."), ("user", "a?"), ("assistant", None), ("user", "b?"))

    ask = read_ask(body, CHAT)

    assert ask.user_prompt == "system: Be brief.\nuser: a?\nassistant: \nuser: b?"
    assert ask.question == "b?"


def test_a_chat_without_a_user_is_looked_up_by_what_was_said_last() -> None:
    ask = read_ask(chat(("system", "x")), CHAT)

    assert (ask.user_prompt, ask.question) == ("system: x", "x")


def test_texts_in_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]

    assert read_ask(chat(("user", parts)), CHAT).user_prompt == "a\nb"


def test_a_completion_takes_a_text_or_a_list_of_one() -> None:
    assert completed("x").user_prompt == "x"
    assert completed(["x"]).user_prompt == "x"
    assert completed("x").endpoint == COMPLETION


def test_a_temperature_of_zero_stays() -> None:
    assert asked(temperature=0).temperature == 0.0


@pytest.mark.parametrize("word", [True, "true", 1, "yes", "1", " TRUE "])
def test_a_flag_is_taken_in_every_published_form(word: object) -> None:
    ask = asked(stream=word, RAG=word)

    assert (ask.stream, ask.wants_knowledge) == (True, True)


@pytest.mark.parametrize("word", [False, "false", 0, None])
def test_a_flag_that_says_no_is_no(word: object) -> None:
    assert not asked(RAG=word).wants_knowledge


def test_named_knowledge_is_wanted_unless_it_is_said_not_to_be() -> None:
    ask = asked(knowledge_ids=[" AB ", "ab", "c"])

    assert (ask.wants_knowledge, ask.knowledge_ids) == (True, ("ab", "c"))
    assert not asked(knowledge_ids=["ab"], RAG=False).wants_knowledge


def test_the_newer_name_of_max_tokens_counts_too() -> None:
    assert asked(max_tokens=7).max_tokens == 7
    assert asked(max_completion_tokens=8, max_tokens=7).max_tokens == 8


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"model": ""}, "model must be a name; it is ''."),
        ({"model": None}, "model must be a name; it is missing."),
        ({"messages": []}, "messages must be a list with something in it; it has 0 items."),
        ({"messages": "x"}, "messages must be a list with something in it; it is 'x'."),
        ({"messages": [{}]}, "messages[0] must be an object with a role."),
        ({"messages": ["x"]}, "messages[0] must be an object with a role."),
        ({"messages": [{"role": "user", "content": 1}]}, "messages[0].content must be a text"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0].content has a part that is no text; a Request carries text only.",
        ),
        ({"stream": "maybe"}, "stream must be true or false; it is 'maybe'."),
        ({"RAG": []}, "RAG must be true or false; it is []."),
        ({"n": 2}, "n must be 1: a Request asks for one answer, not 2."),
        ({"max_tokens": 0}, "max_tokens must be a whole number above 0; it is 0."),
        ({"max_tokens": True}, "max_tokens must be a whole number above 0; it is True."),
        ({"temperature": -1}, "temperature must be from 0 to 2; it is -1."),
        ({"temperature": "1"}, "temperature must be from 0 to 2; it is '1'."),
        ({"temperature": 10**400}, "temperature must be from 0 to 2; it is 1000"),
        ({"top_p": 0}, "top_p must be above 0 to 1; it is 0."),
        ({"Injection_type": "kv"}, "Injection_type must be text or kvcache; it is 'kv'."),
        ({"knowledge_ids": "a"}, "knowledge_ids must be a list of at most 64 ids; it is 'a'."),
        ({"knowledge_ids": ["a"] * 65}, "knowledge_ids must be a list of at most 64 ids; it has"),
        ({"knowledge_ids": [" "]}, "knowledge_ids holds ' ', which is no id."),
        ({"knowledge_ids": [1]}, "knowledge_ids holds 1, which is no id."),
    ],
)
def test_a_mistake_is_told_with_its_field(fields: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidPayload) as raised:
        asked(**fields)

    assert raised.value.message.startswith(why)


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        (None, "prompt must be one text; it is missing."),
        (["a", "b"], "prompt must be one text; it has 2 items."),
        ([[1, 2]], "prompt must be one text; it has 2 items."),
    ],
)
def test_a_completion_needs_one_text(prompt: object, why: str) -> None:
    with pytest.raises(InvalidPayload) as raised:
        completed(prompt)

    assert raised.value.message == why


def test_a_completion_is_not_streamed() -> None:
    with pytest.raises(InvalidPayload) as raised:
        completed(stream=True)

    assert raised.value.message.startswith("A completion cannot be streamed")


def test_what_is_no_json_is_told() -> None:
    with pytest.raises(InvalidJson):
        read_ask(b"{", CHAT)
    with pytest.raises(InvalidJson):
        read_ask(b'{"a":' + b"[" * 100_000, CHAT)
    with pytest.raises(InvalidPayload) as raised:
        read_ask(b"[]", CHAT)

    assert raised.value.message == "The body must be an object, not list."
