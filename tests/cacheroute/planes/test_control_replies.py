"""Answers and errors of the control plane."""

import json

import pytest
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from cacheroute.planes.control_replies import (
    JsonResponse,
    invalid,
    on_invalid,
    on_refused,
    problem,
    read,
)
from cacheroute.wire.instances import UnregisterBody


def a_request(body: bytes) -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {"type": "http", "method": "POST", "path": "/x", "headers": [], "query_string": b""}
    return Request(scope, receive)


def test_a_number_that_is_not_finite_becomes_null() -> None:
    assert JsonResponse({"x": float("nan")}).body == b'{"x":null}'


def test_a_problem_is_flat() -> None:
    response = problem(409, "address_taken", "It is taken.")
    assert response.status_code == 409
    assert json.loads(bytes(response.body)) == {"error": "address_taken", "detail": "It is taken."}


def test_an_invalid_field_is_named() -> None:
    (entry,) = json.loads(bytes(invalid("host", "It is none.", "h h").body))["detail"]
    assert entry == {
        "type": "value_error",
        "loc": ["body", "host"],
        "msg": "It is none.",
        "input": "h h",
    }


async def test_a_body_is_read_whatever_its_type_says() -> None:
    body = await read(a_request(b'{"instance_id": "i-1"}'), UnregisterBody)
    assert body.instance_id == "i-1"


@pytest.mark.parametrize(
    ("content", "loc", "shown"),
    [
        (b"{", ["body"], None),
        (b"{}", ["body", "instance_id"], None),
        (b'{"instance_id": {"a": 1}}', ["body", "instance_id"], None),
        (b'{"instance_id": 7}', ["body", "instance_id"], 7),
        (b'{"instance_id": NaN}', ["body", "instance_id"], None),
    ],
)
async def test_a_refused_body_names_the_field_and_shows_little(
    content: bytes, loc: list[str], shown: object
) -> None:
    request = a_request(content)
    with pytest.raises(RequestValidationError) as refused:
        await read(request, UnregisterBody)
    response = await on_invalid(request, refused.value)
    assert response.status_code == 422
    (entry,) = json.loads(bytes(response.body))["detail"]
    assert set(entry) == {"type", "loc", "msg", "input"}
    assert (entry["loc"], entry["input"]) == (loc, shown)


async def test_a_body_of_many_values_is_not_built() -> None:
    many = b'{"instance_id":"i-1","x":[' + b"[]," * 30_000 + b"1]}"
    with pytest.raises(HTTPException) as refused:
        await read(a_request(many), UnregisterBody)
    response = await on_refused(a_request(b""), refused.value)
    assert response.status_code == 413
    said = json.loads(bytes(response.body))
    assert said["error"] == "too_large"
    assert said["detail"].startswith("A body may hold 20000 values, not more: POST /x")
    text = b'{"instance_id":"i-1","x":"' + b"[]," * 30_000 + b'"}'
    assert (await read(a_request(text), UnregisterBody)).instance_id == "i-1"
