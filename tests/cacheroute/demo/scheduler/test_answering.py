import json
from typing import Any, cast

from cacheroute.core.errors import InvalidPayload, NoInstanceError
from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.scheduler.answering import (
    refuse_client,
    refuse_proxy,
    respond,
    respond_detail,
    respond_error,
)


class Heard:
    """Notes what a request is answered."""

    status = 0
    headers: dict[bytes, bytes]
    body = b""

    def respond(self, status: int, headers: Any, body: bytes) -> None:
        self.status, self.headers, self.body = status, dict(headers), body


def heard() -> tuple[Heard, Inbound]:
    one = Heard()
    return one, cast(Inbound, one)


def test_an_error_is_openais_object_with_a_hint_in_whole_seconds() -> None:
    answer, inbound = heard()
    respond_error(inbound, NoInstanceError("Nobody.", retry_after_s=0.2))

    assert answer.status == 503
    assert answer.headers == {b"Content-Type": b"application/json", b"Retry-After": b"1"}
    assert json.loads(answer.body)["error"] == {
        "message": "Nobody.", "type": "server_error", "param": None, "code": "no_instance",
    }  # fmt: skip


def test_an_error_that_waiting_does_not_heal_has_no_hint() -> None:
    answer, inbound = heard()
    respond_error(inbound, InvalidPayload("No."))

    assert (answer.status, set(answer.headers)) == (400, {b"Content-Type"})


def test_values_are_json_for_every_reader() -> None:
    answer, inbound = heard()
    respond(inbound, {"x": float("nan")}, 201, [(b"Allow", b"GET")])

    assert (answer.status, answer.body) == (201, b'{"x":null}')
    assert answer.headers[b"Allow"] == b"GET"


def test_a_proxy_is_told_in_detail() -> None:
    answer, inbound = heard()
    respond_detail(inbound, 404, "no")

    assert (answer.status, answer.body) == (404, b'{"detail":"no"}')
    assert refuse_proxy(413, "much")[1] == b'{"detail":"much"}'


def test_a_client_whose_request_is_no_http_gets_the_same_form() -> None:
    headers, body = refuse_client(413, "Too much.")

    assert headers == ((b"Content-Type", b"application/json"),)
    assert json.loads(body)["error"]["message"] == "Too much."
