from dataclasses import fields

import pytest

from cacheroute.core.request import RouteRequest
from tests.cacheroute.core.routing.routing_builders import a_request


def test_a_request_carries_what_routing_reads_and_the_bytes_to_forward() -> None:
    request = a_request("llama-3", endpoint="completions")
    assert (request.model, request.endpoint, request.path) == (
        "llama-3",
        "completions",
        "/v1/completions",
    )
    assert (request.method, request.query, request.body) == ("POST", b"", b"{}")
    assert (request.stream, request.caller) == (False, "native")


def test_a_request_has_a_slot_for_each_field_and_no_room_for_others() -> None:
    request = a_request()
    assert not hasattr(request, "__dict__")
    assert len(fields(RouteRequest)) == 12
    with pytest.raises(AttributeError):
        request.priority = 1  # type: ignore[attr-defined]


def test_a_request_may_name_no_model() -> None:
    assert a_request(None).model is None
