"""A request's JSON body, refused in vLLM's words when it is none."""

import json
from typing import Any

import msgspec

from cacheroute.dataplane.inbound import Inbound
from cacheroute.demo.refusal import Refusal, invalid_body, not_json_type


def read_body(inbound: Inbound) -> dict[str, Any]:
    """Return the object that the body holds; raises Refusal."""
    media_type = (inbound.header(b"content-type") or b"").split(b";")[0].strip().lower()
    if media_type != b"application/json":
        raise not_json_type()
    value = read_json(inbound.body)
    if not isinstance(value, dict):
        raise invalid_body(
            "dict_type", "body", "Input should be a valid dictionary", f"<{type(value).__name__}>"
        )
    return value


def read_json(data: bytes) -> Any:
    """Return whatever JSON the bytes hold; raises Refusal with the place of the first fault."""
    if not data.strip():
        raise invalid_body("missing", "body", "Field required", "None")
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        pass
    # The slower parser is the one whose words vLLM repeats; it also takes NaN.
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise _not_json(f"body.{error.pos}", error.msg) from None
    except (ValueError, RecursionError) as error:
        raise _not_json("body.0", str(error).split("\n")[0][:200]) from None


def _not_json(location: str, why: str) -> Refusal:
    said = why.replace("'", '"')
    return invalid_body(
        "json_invalid", location, "JSON decode error", "<dict of 0 items>",
        extra=f", 'ctx': {{'error': '{said}'}}",
    )  # fmt: skip
