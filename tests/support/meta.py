"""The meta of a request, as its readers find it in an answer."""

import json
import re
from typing import Any

from tests.support.sse import events

_META = re.compile(rb"event: cacheroute_meta\ndata: [^\n]*\n\n")
KEY = "_cacheroute_meta"


def meta_of(body: bytes) -> dict[str, Any]:
    """Return the meta of a stream, which has exactly one and [DONE] right behind it."""
    told = events(body)
    assert [event.name for event in told].count(b"cacheroute_meta") == 1, body
    assert told[-2].name == b"cacheroute_meta"
    assert told[-1].data == b"[DONE]"
    found = told[-2].json()
    assert isinstance(found, dict)
    return found


def without_meta(body: bytes) -> bytes:
    """Return a stream as it was before the meta was put in."""
    return _META.sub(b"", body)


def meta_of_json(body: bytes) -> dict[str, Any]:
    """Return the meta of a JSON answer."""
    found = json.loads(body)[KEY]
    assert isinstance(found, dict)
    return found


def without_key(body: bytes) -> Any:
    """Return a JSON answer without its meta."""
    answer = json.loads(body)
    del answer[KEY]
    return answer
