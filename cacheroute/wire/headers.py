"""The headers that CacheRoute itself gives a meaning to, once, as the data plane writes them."""

from typing import Final

INSTANCE: Final = b"X-CacheRoute-Instance"
"""Which Instance answered."""
ATTEMPTS: Final = b"X-CacheRoute-Attempts"
"""How many Instances were tried, when it was more than one."""
REQUEST_ID: Final = b"X-Request-Id"
"""Kept when the caller brings a good one, made otherwise; forwarded and answered."""
RETRY_AFTER: Final = b"Retry-After"
"""When asking again can help, in whole seconds."""
USER: Final = b"X-CacheRoute-User"
"""Who makes a change, in his own words: noted beside the peer's address, and never trusted."""
META: Final = b"X-CacheRoute-Meta"
"""Asks for the meta of a request at the end of its answer: `event`, or `chunk` if strict."""


def can_carry(value: str) -> bool:
    """Whether a text can be the value of a header as it stands."""
    return value.isascii() and value.isprintable()
