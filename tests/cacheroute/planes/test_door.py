"""From bytes to a request, and the words for what cannot be one."""

import contextlib
import json
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cacheroute.core.errors import InvalidJson, InvalidPayload, RequestError
from cacheroute.core.ids import RequestIds
from cacheroute.core.request import RouteRequest
from cacheroute.dataplane.inbound import Inbound
from cacheroute.planes import door
from cacheroute.planes.door import SchedulerRequestError

patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

CHAT = "chat/completions"
DEEP = b"[" * 5000 + b"]" * 5000


def an_inbound(
    body: bytes, headers: dict[bytes, bytes] | None = None, target: bytes = b"/v1/x"
) -> Inbound:
    """A whole request that nobody will answer."""
    fields = headers or {}
    return Inbound(
        cast(Any, None), "POST", target, list(fields.items()), fields, body,
        is_http_10=False, keep_alive=True,
    )  # fmt: skip


def read(
    body: bytes | dict[str, Any],
    endpoint: str = CHAT,
    *,
    opaque: bool = False,
    headers: dict[bytes, bytes] | None = None,
    target: bytes = b"/v1/x",
) -> RouteRequest:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return door.read(
        an_inbound(raw, headers, target),
        endpoint,
        "/v1/x",
        opaque=opaque,
        ids=RequestIds(lambda n: b"\x00" * n),
        arrived_mono_s=5.0,
        arrived_wall_s=1e9,
    )


# What is read


def test_a_chat_is_read_no_further_than_routing_needs() -> None:
    body = b'{"model": "m",  "messages":[{"role":"user"}], "stream": true, "x": 1.0}'
    request = read(body, target=b"/v1/x?a=b")
    assert (request.model, request.stream, request.caller) == ("m", True, "native")
    assert request.body is not None
    assert request.body == body
    assert (request.endpoint, request.path, request.query) == (CHAT, "/v1/x", b"a=b")
    assert (request.arrived_mono_s, request.arrived_wall_s) == (5.0, 1e9)


@pytest.mark.parametrize(
    ("stream", "meant"),
    [
        (True, True),
        (1, True),
        (False, False),
        (0, False),
        (None, False),
        ("true", False),
        ([], False),
    ],
)
def test_only_true_asks_for_a_stream(stream: object, meant: bool) -> None:
    assert read({"model": "m", "stream": stream}).stream is meant


def test_a_model_may_be_missing_or_null() -> None:
    assert read({}).model is None
    assert read({"model": None, "messages": None}).model is None


def test_the_last_of_repeated_keys_counts() -> None:
    assert read(b'{"model":"a","model":"b"}').model == "b"


@pytest.mark.parametrize("body", [b'{"model":"m","seed":NaN}', b'{"model":"m","x":"\\ud800"}'])
def test_what_pythons_own_parser_takes_passes(body: bytes) -> None:
    assert (read(body).model, read(body).body) == ("m", body)


# What is refused


@pytest.mark.parametrize("body", [b"", b"{", b'{"model":}', b"\xff", b'{"a":1} x', b"{'a':1}"])
def test_what_is_no_json_is_told_why(body: bytes) -> None:
    with pytest.raises(InvalidJson, match=r"^The request body is not valid JSON: .+\.$"):
        read(body)


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"1", b"null", b"true", b"NaN"])
def test_what_is_no_object_is_told_so(body: bytes) -> None:
    with pytest.raises(InvalidPayload, match=r"^The request body must be a JSON object\.$"):
        read(body)


@pytest.mark.parametrize("model", [7, [], {}, True, ["x" * 1000]])
def test_a_model_that_is_no_name_is_refused_with_its_value_cut_short(model: object) -> None:
    with pytest.raises(InvalidPayload, match=r"^'model' must be a string, not") as caught:
        read({"model": model})
    assert len(caught.value.message) < 120


@pytest.mark.parametrize("messages", [{}, "hi", 7, False])
def test_messages_that_are_no_list_are_refused_on_the_chat_path_alone(messages: object) -> None:
    with pytest.raises(InvalidPayload, match="'messages' must be a list"):
        read({"model": "m", "messages": messages})
    assert read({"model": "m", "messages": messages}, "completions").model == "m"


@pytest.mark.parametrize("name", ["m" * 1_000_000, "\ud800"], ids=["endless", "half a letter"])
def test_a_model_name_that_no_log_and_no_list_can_keep_is_refused(name: str) -> None:
    """It would be kept in a thousand decisions, and half a letter cannot be written as UTF-8."""
    with pytest.raises(InvalidPayload, match="'model'"):
        read({"model": name, "messages": []})
    forwarded = {"Request_ID": 1, "Prompt": {"model": name, "user_prompt": "hi"}}
    with pytest.raises(door.SchedulerRequestError):
        read(forwarded)
    assert read({"model": name}, "embeddings", opaque=True).model is None


@pytest.mark.parametrize(
    "body",
    [DEEP, b'{"model":' + DEEP + b"}", b'{"messages":' + DEEP + b"}", b'{"x":' + DEEP + b"}"],
    ids=["all", "model", "messages", "another key"],
)
def test_nesting_without_end_is_a_mistake_of_the_caller(body: bytes) -> None:
    with pytest.raises(RequestError):
        read(body)
    assert read(body, "embeddings", opaque=True).body == body


# What may be anything


@pytest.mark.parametrize(
    "body", [b"", b"\x00\xff", b"[1]", b"--b\r\n", b'{"model":7}', b'{"messages":{}}', b'"x"']
)
def test_a_path_that_is_passed_through_takes_any_body(body: bytes) -> None:
    request = read(body, "tokenize", opaque=True)
    assert (request.model, request.stream, request.body) == (None, False, body)


def test_what_can_be_read_of_it_is() -> None:
    request = read({"model": "m", "stream": True}, "responses", opaque=True)
    assert (request.model, request.stream) == ("m", True)


def test_a_path_that_is_passed_through_is_never_translated() -> None:
    body = {"Request_ID": 1, "Prompt": {"model": "m", "user_prompt": "hi"}}
    request = read(body, "embeddings", opaque=True)
    assert request.caller == "native"
    assert json.loads(request.body) == body


@patient
@given(
    st.binary(max_size=80) | st.recursive(st.none() | st.text(), st.lists).map(repr).map(str.encode)
)
@example(b'{"model":"\\ud800"}')
def test_no_body_raises_anything_else(body: bytes) -> None:
    with contextlib.suppress(RequestError):
        read(body)
    assert read(body, "tokenize", opaque=True).body == body


# Whose id


@pytest.mark.parametrize(
    "given_id", [b"abc-1", b"x" * 128, b"3fa85f64-5717-4562-b3fc-2c963f66afa6"]
)
def test_a_good_id_of_the_caller_is_kept(given_id: bytes) -> None:
    assert read({}, headers={b"x-request-id": given_id}).request_id == given_id.decode()


MANY = b"[" + b"[]," * 600_000 + b"[]]"


@pytest.mark.parametrize(
    ("body", "error", "told"),
    [
        (b'{"model":' + MANY + b"}", InvalidPayload, "^'model' must be a string, not a list.$"),
        (b'{"model":{"x":' + MANY + b"}}", InvalidPayload, "^'model' must be a .* not an object.$"),
        (b'{"x":NaN,"y":' + MANY + b"}", InvalidJson, "is not valid JSON: .* invalid character"),
        (
            b'{"Request_ID":1,"Prompt":{"model":"m","user_prompt":"x"},"y":' + MANY + b"}",
            SchedulerRequestError,
            "^A Scheduler's request may hold 500000 values",
        ),
    ],
    ids=["a list", "an object", "for another parser", "of a Scheduler"],
)
def test_what_would_take_long_to_build_is_not_built(
    body: bytes, error: type[RequestError], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json, "loads", lambda _: pytest.fail("it was built"))
    with pytest.raises(error, match=told):
        read(body)


def test_what_nobody_needs_to_see_is_passed_over_however_much_it_is() -> None:
    for body in (b'{"model":"m","x":' + MANY + b"}", b'{"stream":' + MANY + b',"model":"m"}'):
        request = read(body)
        assert (request.model, request.stream, request.body) == ("m", False, body)


def test_a_long_text_is_one_value_whoever_parses_it() -> None:
    text = b'one, two, [three], \\"four\\"' * 200_000
    assert read(b'{"model":"m","x":"\\ud83d","y":"' + text + b'"}').model == "m"
    prompt = b'{"Request_ID":1,"Prompt":{"model":"m","user_prompt":"' + text + b'"}}'
    assert read(prompt).caller == "scheduler"


@pytest.mark.parametrize("given_id", [None, b"", b"a b", b"x" * 129, b"\xff", b'"'])
def test_otherwise_one_is_made(given_id: bytes | None) -> None:
    headers = {} if given_id is None else {b"x-request-id": given_id}
    assert read({}, headers=headers).request_id == "req-000000000000-1"


# What a Scheduler forwards

FORWARDED = {
    "Request_ID": 7,
    "Request_type": "request",
    "Prompt": {"model": "m", "user_prompt": "hi", "stream": True, "max_tokens": 5},
    "Service": {"Enable_know_injection": False, "SLO_TTFT": 5000},
    "Task": {"KDN_server_addr": "10.0.0.1:9101"},
}


def test_a_schedulers_request_is_known_by_its_form_and_translated() -> None:
    request = read(FORWARDED)
    assert (request.caller, request.model, request.stream) == ("scheduler", "m", True)
    assert json.loads(request.body) == {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "max_tokens": 5,
    }


@pytest.mark.parametrize("body", [{"Request_ID": 7, "model": "m"}, {"Prompt": {}, "model": "m"}])
def test_half_of_that_form_is_a_plain_request(body: dict[str, Any]) -> None:
    assert read(body).caller == "native"


def test_a_schedulers_mistake_is_told_in_its_own_form_with_the_field() -> None:
    with pytest.raises(door.SchedulerRequestError) as caught:
        read({"Request_ID": 7, "Prompt": {"model": "m"}})
    assert isinstance(caught.value.cause, InvalidPayload)
    assert caught.value.message == "Prompt.user_prompt must be a string; it is missing."


def test_a_number_of_a_scheduler_that_python_will_not_read_is_its_mistake() -> None:
    body = b'{"Request_ID":7,"Prompt":{"model":"m","user_prompt":"x"},"n":' + b"9" * 5000 + b"}"
    with pytest.raises(RequestError):
        read(body)
