"""Every header that CacheRoute reads or writes by name, once.

Names compare without case; what the data plane hands over is lower-case bytes, so
`lower(NAME)` is there for that side.
"""

from typing import Final

# Ours
INSTANCE: Final = "X-CacheRoute-Instance"
"""Which Instance answered."""
META: Final = "X-CacheRoute-Meta"
"""A native caller's wish for the meta event: `event` or `chunk`."""
ATTEMPTS: Final = "X-CacheRoute-Attempts"
"""How many Instances were tried, when it was more than one."""

# Common property
REQUEST_ID: Final = "X-Request-Id"
"""Kept when the caller brings a good one, made otherwise; forwarded and answered."""
AUTHORIZATION: Final = "Authorization"
WWW_AUTHENTICATE: Final = "WWW-Authenticate"
RETRY_AFTER: Final = "Retry-After"
ACCEPT_ENCODING: Final = "Accept-Encoding"
CONTENT_TYPE: Final = "Content-Type"
ORIGIN: Final = "Origin"
TRACEPARENT: Final = "traceparent"

# From the Scheduler
SCHEDULER_REQUEST_ID: Final = "Scheduler-Request-Id"
TRACE_VERSION: Final = "X-CacheRoute-Trace-Version"
TRACE_ID: Final = "X-CacheRoute-Trace-Id"
TRACE_SAMPLED: Final = "X-CacheRoute-Trace-Sampled"
TRACE_CREATED_AT: Final = "X-CacheRoute-Trace-Created-At"
RUNTIME_PROFILE: Final = "X-CacheRoute-Runtime-Profile"


def lower(name: str) -> bytes:
    """Return a name as the data plane compares it."""
    return name.lower().encode("ascii")
