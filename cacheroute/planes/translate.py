"""What a Scheduler forwards, as the OpenAI request it stands for.

Everything but the model and the prompt may be missing; what is there and of a wrong type is
refused by name, since a Scheduler's mistake must not look like an Instance's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from cacheroute.core.errors import InvalidPayload

_TRUE_WORDS = frozenset({"true", "1", "yes"})


def _block(request: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    block = request.get(name, {})
    if not isinstance(block, Mapping):
        raise InvalidPayload(f"{name} must be an object, not {type(block).__name__}.")
    return block


def _text(block: Mapping[str, Any], owner: str, name: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise InvalidPayload(f"{owner}.{name} must be a string; it is {_shown(value)}.")
    return value


def _shown(value: object) -> str:
    return "missing" if value is None else f"{value!r:.60}"


def _flag(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in _TRUE_WORDS
    return bool(value)


def openai_body(request: Mapping[str, Any], endpoint: str) -> tuple[str, bool, bytes]:
    """Return (model, stream, body) of the request to make of an Instance.

    Keys that are null are left out. A completion is never streamed, by the published
    contract between Schedulers and Proxies.
    """
    prompt = _block(request, "Prompt")
    model = _text(prompt, "Prompt", "model")
    text = _text(prompt, "Prompt", "user_prompt")
    is_chat = endpoint == "chat/completions"
    stream = is_chat and _flag(prompt.get("stream", False))
    body: dict[str, object] = {"model": model}
    if is_chat:
        body["messages"] = [{"role": "user", "content": text}]
    else:
        body["prompt"] = text
    body["stream"] = stream
    for name in ("max_tokens", "temperature", "top_p"):
        value = prompt.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidPayload(f"Prompt.{name} must be a number; it is {_shown(value)}.")
        body[name] = value
    try:
        return model, stream, msgspec.json.encode(body)
    except UnicodeEncodeError:  # half of a surrogate pair goes on as the escape it was
        return model, stream, json.dumps(body).encode()
