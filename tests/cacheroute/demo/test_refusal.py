"""The error bodies, byte for byte as vLLM 0.32 sends them."""

import pytest

from cacheroute.demo import refusal
from cacheroute.demo.refusal import Refusal


@pytest.mark.parametrize(
    ("error", "body"),
    [
        (
            refusal.unknown_model("nope", "tiny"),
            b'{"error":{"message":"The model `nope` does not exist. Valid aliases: tiny.",'
            b'"type":"NotFoundError","param":"model","code":404}}',
        ),
        (
            refusal.missing("messages", {"model": "tiny"}),
            b"{\"error\":{\"message\":\"1 validation error:\\n  {'type': 'missing', 'loc': "
            b"'body.messages', 'msg': 'Field required', 'input': '<dict of 1 items>'}\","
            b'"type":"Bad Request","param":"body.messages","code":400}}',
        ),
        (
            refusal.not_json_type(),
            b'{"error":{"message":"1 validation error:\\n  Unsupported Media Type: Only '
            b'\'application/json\' is allowed","type":"Bad Request","param":null,"code":400}}',
        ),
        (
            refusal.prompt_too_long(8192),
            b'{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, '
            b"your prompt contains at least 8193 input tokens, which exceeds this limit even "
            b"without any output tokens. Please reduce the length of the input prompt. "
            b'(parameter=input_tokens, value=8193)","type":"BadRequestError",'
            b'"param":"input_tokens","code":400}}',
        ),
        (
            refusal.overloaded(),
            b'{"error":{"message":"The engine is currently busy and cannot accept new requests. '
            b'Please try again later or on a different instance.","type":"Service Unavailable",'
            b'"param":null,"code":503}}',
        ),
        (
            refusal.engine_died(),
            b'{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for '
            b'the root cause.","type":"InternalServerError","param":null,"code":500}}',
        ),
    ],
)
def test_errors_have_the_words_of_vllm(error: Refusal, body: bytes) -> None:
    assert error.body == body


def test_a_hint_becomes_a_header() -> None:
    assert Refusal(503, "no", retry_after_s=2.4).headers[-1] == (b"retry-after", b"2")
    assert Refusal(503, "no", retry_after_s=0).headers[-1] == (b"retry-after", b"1")
    assert Refusal(503, "no").headers == refusal.JSON_HEADERS
