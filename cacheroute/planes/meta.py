"""What a Proxy tells about one request at the end of its answer.

In a stream it is the event `cacheroute_meta` right before `[DONE]`; in a JSON answer it is the
key `_cacheroute_meta`. Readers take every `*_ms` of the trace for a whole number if the key is
there at all: what is not known has no key, and null is never sent.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from cacheroute.formats.json_edit import append_key
from cacheroute.wire import strict_json

EVENT = b"cacheroute_meta"
KEY = "_cacheroute_meta"

Trace = Mapping[str, int | str]
Form = Literal["event", "chunk"]

_REFUSALS = frozenset({b"", b"off", b"none", b"no", b"false", b"0"})
_OBJECTS = {"completions": "text_completion"}


def form_asked(value: bytes | None) -> Form | None:
    """Return the form in which a header asks for the meta of a stream; None if it does not.

    A word that means nothing asks for it all the same, as the event.
    """
    if value is None:
        return None
    word = value.strip().lower()
    if word in _REFUSALS:
        return None
    return "chunk" if word == b"chunk" else "event"


def meta(
    trace: Trace,
    *,
    kv_ack: Mapping[str, object],
    kv_ready: Sequence[str],
    text_only: Sequence[str],
    missing: Sequence[str],
    error: str | None,
) -> dict[str, object]:
    """Put the parts together, in the published order of keys."""
    return {
        "trace": trace,
        "kv_ack": kv_ack,
        "kv_ready_kids": list(kv_ready),
        "text_only_kids": list(text_only),
        "miss_kids": list(missing),
        "error": error,
    }


def as_event(told: Mapping[str, object]) -> bytes:
    """Write it as the event of a stream."""
    return b"event: %b\ndata: %b\n\n" % (EVENT, _encoded(told))


def as_chunk(told: Mapping[str, object], endpoint: str, model: str | None) -> bytes:
    """Write it as a chunk without choices, which every client of OpenAI's can read past."""
    chunk = {
        "id": "cacheroute",
        "object": _OBJECTS.get(endpoint, "chat.completion.chunk"),
        "created": 0,
        "model": model or "",
        "choices": [],
        KEY: told,
    }
    return b"data: %b\n\n" % _encoded(chunk)


def into_answer(answer: bytes, told: Mapping[str, object]) -> bytes:
    """Add it to a JSON answer; one that is no object is kept whole under `raw`."""
    added = append_key(answer, KEY, _encoded(told))
    if added is not None:
        return added
    try:
        # Python's own parser takes a little more (NaN, half a letter), and so do clients.
        value = json.loads(answer)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return json.dumps({**value, KEY: told}, separators=(",", ":")).encode()
    return _encoded({"raw": answer.decode("utf-8", "replace"), KEY: told})


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a letter, in the id of a piece of knowledge for one
        return strict_json.encode(value)
