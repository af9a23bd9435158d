import json

import pytest

from cacheroute.demo import tokens
from cacheroute.demo.answers import Answer, Form, answer_to
from cacheroute.demo.params import Params
from cacheroute.demo.refusal import Refusal

PROMPT = tokens.encode("What is a loop?")


def answer(params: Params | None = None, **fields: object) -> Answer:
    arguments = {"max_model_tokens": 1000, **fields}
    return answer_to(PROMPT, params or Params(), **arguments)  # type: ignore[arg-type]


def test_the_same_prompt_gets_the_same_answer_and_another_one_another() -> None:
    assert answer() == answer()
    assert answer().text != answer_to(PROMPT + PROMPT, Params(), max_model_tokens=1000).text
    assert answer().text != answer(choice=1).text


def test_an_answer_ends_by_itself() -> None:
    assert answer().finish_reason == "stop"
    assert answer().text.endswith(".")


@pytest.mark.parametrize("length", [1, 7, 200, 996])
def test_max_tokens_is_how_many_there_are(length: int) -> None:
    given = answer(Params(max_tokens=length))
    assert (len(given.pieces), given.finish_reason) == (length, "length")


def test_the_context_bounds_an_answer_that_has_no_bound() -> None:
    given = answer(max_model_tokens=10)
    assert (len(given.pieces), given.finish_reason) == (6, "length")


def test_a_prompt_that_fills_the_context_is_refused() -> None:
    with pytest.raises(Refusal, match="at least 5 input tokens"):
        answer(max_model_tokens=4)


def test_an_answer_that_does_not_fit_behind_its_prompt_is_refused_with_the_sum() -> None:
    with pytest.raises(
        Refusal, match=r"requested 997 output tokens .* total of at least 1001 tokens"
    ):
        answer(Params(max_tokens=997))


def test_a_stop_string_ends_it_and_is_left_out() -> None:
    given = answer(Params(max_tokens=50, stops=("zzz", " answer")))
    assert (given.text, given.finish_reason, given.stop_reason) == (
        "This is a modelled", "stop", " answer",
    )  # fmt: skip


def test_a_stop_string_at_the_very_start_leaves_an_empty_token() -> None:
    assert answer(Params(stops=("T",))).pieces == ("",)


def test_a_tool_call_is_made_of_its_schema() -> None:
    schema = {"type": "object", "properties": {"city": {"enum": ["Oslo"]}}}
    given = answer(form=Form(tool="weather", schema=schema))
    assert (given.tool, given.finish_reason) == ("weather", "tool_calls")
    assert json.loads(given.text) == {"city": "Oslo"}


def test_a_structured_answer_that_is_too_long_is_cut_for_length() -> None:
    schema = {"properties": {"name": {"type": "string"}}}
    given = answer(Params(max_tokens=2), form=Form(schema=schema))
    assert (given.text, given.finish_reason) == ('{"name":', "length")
