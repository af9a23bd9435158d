"""What a Scheduler forwards, read as a Task.

Everything but the model and the prompt may be missing; what is there and of a wrong type is
refused by name, since a Scheduler's mistake must not look like an Instance's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cacheroute.core.errors import InvalidPayload
from cacheroute.core.task import KVCACHE, Task
from cacheroute.core.topology import address_of

_TRUE_WORDS = frozenset({"true", "1", "yes"})
_CHARS_PER_TOKEN = 4
MAX_KNOWLEDGE_IDS = 256
"""Most pieces of knowledge in one request."""
_ID_MAX_CHARS = 128
_MODE_MAX_CHARS = 32
_TOKENS_MAX = 1_000_000_000


def read_task(request: Mapping[str, Any], endpoint: str) -> Task:
    """Read a Request; raises InvalidPayload with the field and the value that is wrong.

    A completion is never streamed, by the published contract between Schedulers and Proxies.
    """
    prompt = _block(request, "Prompt")
    service = _block(request, "Service")
    task = _block(request, "Task")
    text = _text(prompt, "Prompt", "user_prompt")
    counted = _count(prompt, "token_length")
    return Task(
        request_id=_request_id(request.get("Request_ID")),
        endpoint=endpoint,
        model=_text(prompt, "Prompt", "model"),
        user_prompt=text,
        prompt_tokens=counted or max(1, len(text) // _CHARS_PER_TOKEN),
        stream=endpoint == "chat/completions" and _flag(prompt.get("stream", False)),
        max_tokens=_number(prompt, "max_tokens"),
        temperature=_number(prompt, "temperature"),
        top_p=_number(prompt, "top_p"),
        wants_knowledge=_flag(service.get("Enable_know_injection", False)),
        mode=_mode(service.get("Injection_type")),
        knowledge_ids=_ids(service.get("Knowledge_List")),
        knowledge_tokens=_count(service, "Knowledge_length"),
        kdn_address=_address(task.get("KDN_server_addr")),
        ignored=("Enable_PD_Disaggregation",)
        if _flag(service.get("Enable_PD_Disaggregation", False))
        else (),
    )


def _block(request: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    block = request.get(name)
    if block is None:
        return {}
    if not isinstance(block, Mapping):
        raise InvalidPayload(f"{name} must be an object, not {type(block).__name__}.")
    return block


def _text(block: Mapping[str, Any], owner: str, name: str) -> str:
    value = block.get(name)
    if not isinstance(value, str):
        raise InvalidPayload(f"{owner}.{name} must be a string; it is {_shown(value)}.")
    return value


def _number(prompt: Mapping[str, Any], name: str) -> int | float | None:
    value = prompt.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidPayload(f"Prompt.{name} must be a number; it is {_shown(value)}.")
    if isinstance(value, float) and not math.isfinite(value):  # `1e999` is JSON, and infinite
        raise InvalidPayload(f"Prompt.{name} must be a finite number; it is {value}.")
    return value


def _count(block: Mapping[str, Any], name: str) -> int | None:
    """Read a number of tokens; None of a Scheduler that cannot count, for it is only a hint."""
    value = block.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return int(min(value, _TOKENS_MAX)) or None


def _ids(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InvalidPayload(f"Service.Knowledge_List must be a list of ids; it is {value!r:.60}.")
    if len(value) > MAX_KNOWLEDGE_IDS:
        raise InvalidPayload(
            f"Service.Knowledge_List may name {MAX_KNOWLEDGE_IDS} pieces, not {len(value)}."
        )
    for each in value:
        if len(each) > _ID_MAX_CHARS:
            raise InvalidPayload(
                f"An id in Service.Knowledge_List has {len(each)} characters; "
                f"{_ID_MAX_CHARS} are allowed."
            )
        if not _is_text(each):
            raise InvalidPayload(f"An id in Service.Knowledge_List is not text: {each!r:.60}.")
    return tuple(value)


def _mode(value: object) -> str:
    """Read how knowledge is wanted; a word that means nothing here is kept to be told."""
    if value is None or value == "":
        return KVCACHE
    if not isinstance(value, str):
        raise InvalidPayload(f"Service.Injection_type must be a string; it is {_shown(value)}.")
    if not _is_text(value):
        raise InvalidPayload(f"Service.Injection_type is not text: {value!r:.60}.")
    return value.strip().lower()[:_MODE_MAX_CHARS]


def _address(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidPayload(f"Task.KDN_server_addr must be a string; it is {_shown(value)}.")
    # In one spelling, since links and transfers are counted by it.
    return address_of(value) or value.strip()


def _request_id(value: object) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return str(value)[:_ID_MAX_CHARS]


def _shown(value: object) -> str:
    return "missing" if value is None else f"{value!r:.60}"


def _flag(value: object) -> bool:
    if isinstance(value, str):
        return value.strip().lower() in _TRUE_WORDS
    return bool(value)


def _is_text(value: str) -> bool:
    """Whether it can be written anywhere: half of a surrogate pair cannot."""
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)
