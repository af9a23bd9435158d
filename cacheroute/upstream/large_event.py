"""An event that is too large to be built: what is small in it and needed is read, no more.

Sixteen megabytes of `[]` take a second to build, in which no other stream would move. Skipping
over them takes a fiftieth of that, and an event beyond the limit is not even skipped over.
"""

import msgspec

BUILT_BYTES = 64 * 1024
"""Larger events are not built."""
READ_BYTES = 1024 * 1024
"""Of larger events it is only seen that they come; they are passed on all the same."""
_VALUE_BYTES = 16 * 1024
_SHOWN_BYTES = 200
_NOTHING = msgspec.Raw()


class _Body(msgspec.Struct):
    type: msgspec.Raw = _NOTHING
    object: msgspec.Raw = _NOTHING
    error: msgspec.Raw = _NOTHING
    usage: msgspec.Raw = _NOTHING
    choices: msgspec.Raw = _NOTHING
    message: msgspec.Raw = _NOTHING
    response: msgspec.Raw = _NOTHING


class _Nested(msgspec.Struct):
    error: msgspec.Raw = _NOTHING
    usage: msgspec.Raw = _NOTHING


_read_body = msgspec.json.Decoder(_Body).decode
_read_nested = msgspec.json.Decoder(_Nested).decode


def glance(data: bytes) -> dict[str, object] | None:
    """Return what a large event says of itself, in the shape of the event; None if it is no object.

    Raises what decoding JSON raises.
    """
    try:
        body = _read_body(data)
    except msgspec.ValidationError:
        return None
    seen = {
        "type": _small(body.type),
        "object": _small(body.object),
        "error": _shown(body.error),
        "usage": _small(body.usage),
        "message": _within(body.message),
        "response": _within(body.response),
        # What makes it large is most likely what was generated.
        "choices": _small(body.choices) if _is_small(body.choices) else [{"text": True}],
    }
    return {name: value for name, value in seen.items() if value is not None}


def _is_small(value: msgspec.Raw) -> bool:
    return len(memoryview(value)) <= _VALUE_BYTES


def _small(value: msgspec.Raw) -> object:
    if not memoryview(value) or not _is_small(value):
        return None
    return msgspec.json.decode(value)


def _shown(value: msgspec.Raw) -> object:
    return _small(value) if _is_small(value) else _beginning(value)


def _beginning(value: msgspec.Raw) -> str:
    return bytes(memoryview(value)[:_SHOWN_BYTES]).decode("utf-8", "replace")


def _within(value: msgspec.Raw) -> object:
    if _is_small(value):
        return _small(value)
    try:
        nested = _read_nested(value)
    except msgspec.ValidationError:
        return _beginning(value)
    found = {
        "error": _shown(nested.error),
        "usage": _small(nested.usage),
    }
    return {name: each for name, each in found.items() if each is not None}
