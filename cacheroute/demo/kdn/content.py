"""What a text is called: the SHA-256 of its normalised form, in hex.

An engine must be given exactly the normalised form, or its KV cache is of another text.
"""

import hashlib
from collections.abc import Iterable

from cacheroute.demo.kdn.refused import Refused

MAX_TEXT_CHARS = 256 * 1024
"""Longest text that is taken: about 64,000 tokens."""


def normalise(text: str) -> str:
    """Return a text with Unix line ends and nothing blank around it; raises Refused."""
    normal = text.replace("\r\n", "\n").strip()
    if not normal:
        raise Refused(400, "content is empty after normalisation")
    if len(normal) > MAX_TEXT_CHARS:
        raise Refused(
            413, f"content has {len(normal)} characters; this node takes {MAX_TEXT_CHARS} at most"
        )
    return normal


def kid_of(normal: str) -> str:
    """Return the id of a normalised text."""
    return hashlib.sha256(normal.encode()).hexdigest()


def asked_for(ids: Iterable[str]) -> list[str]:
    """Return ids as they are stored: trimmed, in lower case, in the order they came."""
    return [each.strip().lower() for each in ids]
