"""Tasks and terms for the tests of injection: what is not named does not matter."""

from typing import Any

from cacheroute.core.injection.terms import IwsTerms
from cacheroute.core.task import Task


def a_task(**fields: Any) -> Task:
    """Make a chat with one piece of knowledge."""
    given: dict[str, Any] = {
        "request_id": 1,
        "endpoint": "chat/completions",
        "model": "m",
        "user_prompt": "hi",
        "prompt_tokens": 50,
        "stream": True,
        "wants_knowledge": True,
        "knowledge_ids": ("aa",),
        "knowledge_tokens": 1024,
        "kdn_address": "kdn:9101",
    }
    return Task(**(given | fields))


def some_terms(**fields: Any) -> IwsTerms:
    """Make terms by which both ways cost nothing."""
    given: dict[str, Any] = dict.fromkeys(IwsTerms.__dataclass_fields__, 0)
    return IwsTerms(**(given | {"kv_bandwidth_source": "default"} | fields))
