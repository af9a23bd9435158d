"""Tokens of a model that has no vocabulary: four bytes of UTF-8 each, the last one padded.

About four characters of English make one token, as with real tokenizers. A token's id is
its four bytes, so ids turn back into text, and equal text always means equal tokens.
"""

import struct
from collections.abc import Sequence

TOKEN_BYTES = 4
MAX_ID = (1 << 32) - 1

_SPECIAL = b"\xff\xff\xff"  # never part of UTF-8

BEGIN_TOOLS, SYSTEM, USER, ASSISTANT, TOOL, END, IMAGE, SEPARATOR = (
    _SPECIAL + bytes([n]) for n in range(8)
)

_NAMES = {
    BEGIN_TOOLS: b"<|tools|>",
    SYSTEM: b"<|system|>",
    USER: b"<|user|>",
    ASSISTANT: b"<|assistant|>",
    TOOL: b"<|tool|>",
    END: b"<|end|>",
    IMAGE: b"<|image|>",
    SEPARATOR: b"<|separator|>",
}


def encode(text: str) -> bytes:
    """Return the token stream of a text: a multiple of four bytes."""
    data = text.encode("utf-8", "surrogatepass")
    return data + bytes(-len(data) % TOKEN_BYTES)


def count(stream: bytes) -> int:
    """Return how many tokens a stream has."""
    return len(stream) // TOKEN_BYTES


def ids(stream: bytes) -> list[int]:
    """Return the ids of a stream."""
    return list(struct.unpack(f">{count(stream)}I", stream))


def stream_of(token_ids: Sequence[int]) -> bytes:
    """Return the stream of some ids; raises ValueError for one that no token has."""
    try:
        return struct.pack(f">{len(token_ids)}I", *token_ids)
    except struct.error:
        bad = next(
            (one for one in token_ids if type(one) is not int or not 0 <= one <= MAX_ID), None
        )
        raise ValueError(f"Token id {bad!r} is out of vocabulary.") from None


def decode(stream: bytes) -> str:
    """Return the text of a stream; special tokens show as `<|user|>` and the like."""
    pieces = [stream[at : at + TOKEN_BYTES] for at in range(0, len(stream), TOKEN_BYTES)]
    data = b"".join([_NAMES.get(piece) or piece for piece in pieces])
    return data.replace(b"\0", b"").decode("utf-8", "replace")


def cut(text: str) -> list[str]:
    """Cut an ASCII text into the pieces that its tokens are streamed as."""
    return [text[at : at + TOKEN_BYTES] for at in range(0, len(text), TOKEN_BYTES)]
