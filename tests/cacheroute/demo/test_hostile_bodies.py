"""Whatever JSON comes in, the answer is an answer or a Refusal."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cacheroute.demo.body import read_json
from cacheroute.demo.faults import read_fault
from cacheroute.demo.params import ServedModel
from cacheroute.demo.refusal import Refusal
from cacheroute.demo.reply import Ask, Reply
from cacheroute.demo.service import GENERATING

MODEL = ServedModel(name="tiny", max_model_tokens=512, created_at_s=0)

_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**70), st.floats(), st.text(max_size=8),
    st.sampled_from(["user", "assistant", "required", "auto", "json_schema", "object", "any"]),
)  # fmt: skip
_KEYS = st.sampled_from(
    [
        "model", "messages", "role", "content", "text", "prompt", "input", "n", "stop", "stream",
        "stream_options", "include_usage", "max_tokens", "max_output_tokens", "temperature",
        "tools", "tool_choice", "function", "name", "parameters", "properties", "type", "enum",
        "items", "minItems", "$ref", "response_format", "json_schema", "schema", "query",
        "documents", "top_n", "dimensions", "encoding_format", "system", "instructions",
        "tool_calls", "arguments", "stop_sequences", "input_schema", "echo", "kind", "count",
    ]
)  # fmt: skip
_JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=5)),
    max_leaves=20,
)
_MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.text(max_size=9)}, optional={"content": _JSON}), max_size=3
)
_BODIES = st.one_of(
    st.dictionaries(_KEYS, _JSON, max_size=8),
    st.fixed_dictionaries(
        {"messages": _MESSAGES, "input": _JSON, "prompt": _JSON, "max_tokens": st.just(3)},
        optional={"tools": _JSON, "tool_choice": _JSON, "response_format": _JSON, "system": _JSON},
    ),
    st.fixed_dictionaries({"query": st.text(max_size=5), "documents": st.lists(_JSON, max_size=3)}),
)


T = TypeVar("T")


def outcome(attempt: Callable[[], T]) -> T | Refusal:
    """Return what an attempt gives, or why it was refused; anything else is an error."""
    try:
        return attempt()
    except Refusal as refusal:
        return refusal


@pytest.mark.parametrize("path", sorted(GENERATING))
@settings(max_examples=60, deadline=None)
@given(body=_BODIES)
def test_any_body_is_answered_or_refused(path: str, body: dict[str, Any]) -> None:
    read, draw, _ = GENERATING[path]
    ask = outcome(lambda: read(body, MODEL))
    if isinstance(ask, Refusal):
        assert 400 <= ask.status < 500
        assert ask.body
        return
    reply = Reply(ask, reply_id="r", model="tiny", created_at_s=0)
    shape = draw(reply)
    shape.opening()
    for choice in reply.choices:
        while not choice.finished:
            choice.emitted += 1
            shape.piece(choice)
    shape.closing()
    assert shape.whole()


@given(body=_JSON)
def test_any_order_is_a_fault_or_refused(body: Any) -> None:
    fault = outcome(lambda: read_fault(body))
    assert not isinstance(fault, Refusal) or fault.status == 400


@pytest.mark.parametrize("path", sorted(GENERATING))
@pytest.mark.parametrize("depth", [100, 300, 900, 990, 1100, 5000])
def test_any_depth_is_answered_or_refused(path: str, depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    bodies = [
        b'{"messages": [{"role": "user", "content": %b}], "max_tokens": 1}',
        b'{"messages": [{"role": "user"}], "max_tokens": 1, "tools": [{"x": %b}]}',
        b'{"input": %b, "prompt": %b}',
        b'{"query": "x", "documents": %b}',
    ]
    for body in (body.replace(b"%b", nested) for body in bodies):
        ask = outcome(partial(read_and_ask, path, body))
        assert not isinstance(ask, Refusal) or ask.status == 400


def read_and_ask(path: str, body: bytes) -> Ask:
    return GENERATING[path][0](read_json(body), MODEL)
