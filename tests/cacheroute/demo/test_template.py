from typing import Any

from cacheroute.demo import tokens
from cacheroute.demo.template import render_chat


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_a_chat_that_goes_on_begins_with_its_last_turn_and_the_answer() -> None:
    first = render_chat([user("one two three")])
    answer = "This is an answer."
    second = render_chat(
        [user("one two three"), {"role": "assistant", "content": answer}, user("?")]
    )
    assert second.startswith(first + tokens.encode(answer))


def test_a_prompt_reads_as_its_messages() -> None:
    messages = [{"role": "system", "content": "Be brief."}, user("hi")]
    assert tokens.decode(render_chat(messages)) == (
        "<|system|>Be brief.<|end|><|user|>hi<|end|><|assistant|>"
    )


def test_tools_stand_before_the_messages() -> None:
    with_tools = render_chat([user("hi")], [{"type": "function"}])
    assert with_tools.endswith(render_chat([user("hi")]))
    assert tokens.decode(with_tools).startswith('<|tools|>[{"type":"function"}]<|end|>')


def test_text_parts_are_text() -> None:
    parts = [{"type": "text", "text": "hi"}, {"type": "text", "text": "there"}]
    text = tokens.decode(render_chat([{"role": "user", "content": parts}]))
    assert text == "<|user|>hithere<|end|><|assistant|>"


def test_a_picture_always_costs_as_much_and_is_the_same_picture_twice() -> None:
    def picture(url: str) -> bytes:
        part = {"type": "image_url", "image_url": {"url": url}}
        return render_chat([{"role": "user", "content": [part]}])

    small, large = picture("data:,a"), picture("data:," + "b" * 100_000)
    assert tokens.count(small) == tokens.count(large)
    assert small != large
    assert small == picture("data:,a")


def test_a_message_without_content_is_only_its_role() -> None:
    calls = [{"function": {"name": "f", "arguments": '{"a":1}'}}]
    text = tokens.decode(render_chat([{"role": "assistant", "content": None, "tool_calls": calls}]))
    assert text == '<|assistant|>{"a":1}<|end|><|assistant|>'


def test_whatever_a_message_holds_makes_a_prompt() -> None:
    odd: list[dict[str, Any]] = [
        {"role": "unheard-of", "content": 3},
        {"role": "tool", "content": [{"type": "tool_result", "content": [{"text": "4"}]}, 5]},
        {"role": "assistant", "tool_calls": "none"},
        {"role": "user", "content": "\ud800"},
    ]
    assert tokens.count(render_chat(odd)) > 4
