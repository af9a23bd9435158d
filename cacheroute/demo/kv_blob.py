"""A piece of KV that is said to be large and is small: a stand-in that fits into a test's Redis.

Real KV of a 70B model is tens of megabytes for 256 tokens. A blob carries that size as a
number, and whoever simulates a link or a load counts it instead of the blob's own length.
"""

import struct

_MAGIC = b"CRKV"
_VERSION = 1
_HEADER = struct.Struct(">4sB3xQQ")
HEADER_BYTES = _HEADER.size
PAYLOAD_BYTES = 256
"""What stands for the tensors."""

_PAYLOAD = bytes(range(256))
_MOST = (1 << 64) - 1


def pack(tokens: int, nominal_bytes: int) -> bytes:
    """Return a blob for the KV of so many tokens; raises ValueError for what no KV can be."""
    if not (0 < tokens <= _MOST and 0 <= nominal_bytes <= _MOST):
        raise ValueError(f"No KV has {tokens} tokens in {nominal_bytes} bytes.")
    return _HEADER.pack(_MAGIC, _VERSION, nominal_bytes, tokens) + _PAYLOAD


def nominal_bytes(value: bytes) -> int:
    """Return the size that a value stands for; its own length where it is no blob of ours."""
    header = _header(value)
    return len(value) if header is None else header[0]


def tokens(value: bytes) -> int | None:
    """Return how many tokens a value is the KV of; None where it does not say."""
    header = _header(value)
    return None if header is None else header[1]


def _header(value: bytes) -> tuple[int, int] | None:
    if len(value) < HEADER_BYTES:
        return None
    magic, version, size_bytes, held_tokens = _HEADER.unpack_from(value)
    if magic != _MAGIC or version != _VERSION:
        return None
    return size_bytes, held_tokens
