"""The two shapes of an error."""

import pytest

from cacheroute.wire.problem import error_type, flat_error, openai_error


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (413, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "server_error"),
        (503, "server_error"),
    ],
)
def test_the_type_follows_from_the_status(status: int, expected: str) -> None:
    assert error_type(status) == expected


def test_an_openai_error_has_every_key() -> None:
    assert openai_error("No.", status=404, code="model_not_found", param="model") == {
        "error": {
            "message": "No.",
            "type": "not_found_error",
            "param": "model",
            "code": "model_not_found",
        }
    }


def test_a_flat_error_has_a_code_and_a_sentence() -> None:
    assert flat_error("no_instance", "Nobody.") == {"error": "no_instance", "detail": "Nobody."}
