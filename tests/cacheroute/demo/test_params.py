from typing import Any

import pytest

from cacheroute.demo.params import Params, ServedModel, check_model, read_params
from cacheroute.demo.refusal import Refusal

MODEL = ServedModel(name="tiny", max_model_tokens=8192, created_at_s=0)


def read(**body: Any) -> Params:
    return read_params(body, max_tokens_keys=("max_completion_tokens", "max_tokens"), model=MODEL)


def test_what_is_not_said_has_a_default() -> None:
    assert read() == Params()


def test_what_is_said_is_read() -> None:
    assert read(
        model="tiny", stream=True, stream_options={"include_usage": True}, max_tokens=5, n=2,
        stop="END", temperature=0, top_p=1, cache_salt="s", unknown_field=1,
    ) == Params(
        max_tokens=5, choices=2, stops=("END",), stream=True, include_usage=True, cache_salt="s"
    )  # fmt: skip


def test_the_newer_name_of_max_tokens_wins() -> None:
    assert read(max_tokens=5, max_completion_tokens=7).max_tokens == 7


@pytest.mark.parametrize(
    ("body", "message", "param"),
    [
        (
            {"temperature": -3},
            "temperature must be non-negative, got -3.0. (parameter=temperature, value=-3.0)",
            "temperature",
        ),
        ({"top_p": 0}, "top_p must be in (0, 1], got 0.0. (parameter=top_p, value=0.0)", "top_p"),
        (
            {"max_tokens": 100_000},
            "max_tokens=100000 cannot be greater than max_model_len=8192. Please request fewer "
            "output tokens. (parameter=max_tokens, value=100000)",
            "max_tokens",
        ),
        (
            {"max_tokens": 0},
            "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)",
            "max_tokens",
        ),
        (
            {"stream_options": {"include_usage": True}},
            "Stream options can only be defined when `stream=True`. (parameter=stream_options)",
            "stream_options",
        ),
        (
            {"top_p": 10**400},
            "top_p must be in (0, 1], got inf. (parameter=top_p, value=inf)",
            "top_p",
        ),
        (
            {"temperature": -(10**400)},
            "temperature must be non-negative, got -inf. (parameter=temperature, value=-inf)",
            "temperature",
        ),
        ({"n": 17}, "n must be between 1 and 16, got 17. (parameter=n, value=17)", "n"),
    ],
)
def test_what_vllm_refuses_is_refused_in_its_words(
    body: dict[str, Any], message: str, param: str
) -> None:
    with pytest.raises(Refusal) as caught:
        read(**body)
    assert (caught.value.status, caught.value.message, caught.value.param) == (400, message, param)


@pytest.mark.parametrize(
    "body",
    [
        {"stream": "yes"},
        {"temperature": "hot"},
        {"temperature": float("nan")},
        {"max_tokens": 1.5},
        {"max_tokens": True},
        {"n": "2"},
        {"stop": [1]},
        {"stop": [""]},
        {"stop": ["x"] * 65},
        {"stream": True, "stream_options": []},
        {"model": 5},
    ],
)
def test_a_field_of_another_type_is_a_400(body: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as caught:
        read(**body)
    assert caught.value.status == 400


def test_another_model_is_not_found() -> None:
    with pytest.raises(Refusal, match="`nope` does not exist") as caught:
        check_model({"model": "nope"}, MODEL)
    assert caught.value.status == 404
