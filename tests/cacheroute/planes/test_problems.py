import json

import pytest

from cacheroute.core.errors import (
    CacheRouteError,
    Draining,
    InvalidJson,
    ModelNotFound,
    NoInstanceError,
    Overloaded,
    UpstreamClosed,
    UpstreamTimeout,
)
from cacheroute.planes.problems import (
    error_event,
    error_object,
    flat_error,
    render,
    render_refusal,
)
from tests.support.sse import error_of, events

ERRORS: list[tuple[CacheRouteError, str, str | None]] = [
    (InvalidJson("bad"), "invalid_request_error", None),
    (ModelNotFound("no m"), "not_found_error", "model"),
    (NoInstanceError("nobody"), "server_error", None),
    (Overloaded("full"), "server_error", None),
    (UpstreamClosed("closed", peer="a:1"), "server_error", None),
    (UpstreamTimeout("late", peer="a:1"), "server_error", None),
]


@pytest.mark.parametrize(("error", "kind", "param"), ERRORS)
def test_a_plain_client_gets_openais_error_object(
    error: CacheRouteError, kind: str, param: str | None
) -> None:
    headers, body = render(error, "native")
    assert json.loads(body) == {
        "error": {"message": error.message, "type": kind, "param": param, "code": error.code}
    }
    assert dict(headers)[b"Content-Type"] == b"application/json"


@pytest.mark.parametrize(("error", "kind", "param"), ERRORS)
def test_a_scheduler_gets_the_flat_form(
    error: CacheRouteError, kind: str, param: str | None
) -> None:
    _, body = render(error, "scheduler")
    assert json.loads(body) == {"error": error.code, "detail": error.message}


@pytest.mark.parametrize(
    ("retry_after_s", "told"), [(None, None), (0.0, b"1"), (0.2, b"1"), (1.0, b"1"), (4.1, b"5")]
)
def test_a_hint_is_whole_seconds_and_at_least_one(
    retry_after_s: float | None, told: bytes | None
) -> None:
    headers, _ = render(Draining("bye", retry_after_s=retry_after_s), "native")
    assert dict(headers).get(b"Retry-After") == told


def test_a_stream_that_broke_off_says_so_in_an_event_of_its_own() -> None:
    said = error_event(UpstreamClosed('10.0.0.7:8000 closed\n"now".', peer="10.0.0.7:8000"))
    (event,) = events(said)
    error = error_of(event)
    assert error is not None
    assert error["message"] == '10.0.0.7:8000 closed\n"now".'
    assert error["code"] == "upstream_closed"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "bad_request"), (408, "request_timeout"), (413, "too_large"), (431, "too_large"),
        (503, "too_busy"), (505, "bad_request"),
    ],
)  # fmt: skip
def test_what_breaks_the_rules_of_http_is_refused_in_the_same_form(status: int, code: str) -> None:
    headers, body = render_refusal(status, "why")
    error = json.loads(body)["error"]
    assert (error["code"], error["message"]) == (code, "why")
    assert (b"Retry-After" in dict(headers)) == (status == 503)


def test_both_forms_are_json_whatever_the_text() -> None:
    text = 'ä \u2028 "quoted" \\ \n'
    assert json.loads(error_object("c", text, 500))["error"]["message"] == text
    assert json.loads(flat_error("c", text)) == {"error": "c", "detail": text}
