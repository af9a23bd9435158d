"""Change one value of a JSON object and leave every other byte as it was.

Parsing and writing again would reorder keys, round big numbers and unescape text, which
makes an engine's prefix cache miss; so only the span of the value is replaced.
"""

import json
import re
from functools import lru_cache

import msgspec

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""Possessive: with an alternative per character, a picture costs a hundred times its size."""
_FLAT = rb'[\[{](?:[^"\[\]{}]++|' + _STRING + rb")*+[\]}]"
_NESTED = rb'[\[{](?:[^"\[\]{}]++|' + _STRING + rb"|" + _FLAT + rb")*+[\]}]"
_TOKEN = re.compile(_STRING + rb"|[{}\[\],]", re.DOTALL)
_DEEP = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb"|" + _NESTED + rb")*+([{}\[\]])", re.DOTALL)
"""Up to the next bracket that counts: a step in Python for each number of an embedding, or for
each empty list, would hold everybody else up for seconds."""
_STEPS_MAX = 200_000
"""A document that takes more is left alone: nobody writes one but to cost time."""
_OPENING = re.compile(rb"[ \t\r\n]*\{")
_VALUE = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_SPACE = b" \t\r\n"


def find_value(document: bytes, key: bytes) -> tuple[int, int] | None:
    """Return the span of a top-level key's value, the last one if it is repeated.

    `key` is plain ASCII. What is no JSON object has no such key, or is found out later by
    whoever reads it.
    """
    if not _OPENING.match(document):
        return None
    quoted = b'"%b"' % key
    name = key.decode("ascii")
    depth = 0
    span: tuple[int, int] | None = None
    start: int | None = None
    expects_key = False
    others = _others(quoted)
    steps = position = 0
    while (token := _TOKEN.search(document, position)) is not None:
        if steps >= _STEPS_MAX:
            return None  # the key may stand once more, further on
        text = token.group()
        position = token.end()
        steps += 1
        if text in b"{[":
            depth += 1
            expects_key = depth == 1
            while depth > 1:
                deep = _DEEP.match(document, position)
                if steps >= _STEPS_MAX:
                    return None
                if deep is None:
                    return span
                position = deep.end()
                depth += 1 if deep[1] in b"{[" else -1
                steps += 1
        elif text in b"}]," and (depth == 1 or text != b","):
            if depth == 1 and start is not None:
                span = (start, start + len(document[start : token.start()].rstrip(_SPACE)))
                start = None
            depth -= text != b","
            expects_key = depth == 1 and text == b","
            if expects_key and (passed := others.match(document, position)) is not None:
                position = passed.end()
        elif depth == 1 and expects_key:
            expects_key = False
            value = _VALUE.match(document, position)
            if value is None:
                return None
            position = value.end()
            if text == quoted or (b"\\" in text and _unescaped(text) == name):
                start = position
    return span


@lru_cache(maxsize=16)
def _others(quoted: bytes) -> re.Pattern[bytes]:
    """Match members whose keys are plainly others, with the comma behind each."""
    blank = rb"[ \t\r\n]*+"
    key = rb"(?!" + re.escape(quoted) + rb')"[^"\\]*+"'
    value = rb"(?:" + _STRING + rb"|" + _NESTED + rb'|[^"\[\]{},]++)'
    member = blank + key + blank + rb":" + blank + value + blank + rb","
    return re.compile(rb"(?:" + member + rb")*+", re.DOTALL)


def _unescaped(key: bytes) -> object:
    try:
        return json.loads(key)
    except ValueError:
        return None


def replace_value(document: bytes, key: bytes, value: bytes) -> bytes:
    """Put an encoded value in the place of a top-level key's; unchanged if there is no such key."""
    span = find_value(document, key)
    return document if span is None else document[: span[0]] + value + document[span[1] :]


def append_key(document: bytes, key: str, value: bytes) -> bytes | None:
    """Add an encoded value to a JSON object as its last key; None if it is no JSON object."""
    try:
        fields = msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    whole = document.rstrip(_SPACE)
    comma = b"," if fields else b""
    return b'%b%b"%b":%b}' % (whole[:-1].rstrip(_SPACE), comma, key.encode(), value)
