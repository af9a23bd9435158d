"""The six headers by which a Proxy can keep a trace under the Scheduler's id for it.

They are the Scheduler's to say: whatever a client sends under these names goes no further.
"""

from collections.abc import Callable
from datetime import UTC, datetime

VERSION = "observability.v1"


def trace_headers(
    request_id: int,
    *,
    wall_s: float,
    profile: str,
    sampled: bool,
    random_bytes: Callable[[int], bytes],
) -> list[tuple[bytes, bytes]]:
    """Return the headers of one request; the time is UTC to the microsecond."""
    created = datetime.fromtimestamp(wall_s, UTC).replace(tzinfo=None)
    return [
        (b"scheduler-request-id", b"%d" % request_id),
        (b"x-cacheroute-trace-version", VERSION.encode()),
        (b"x-cacheroute-trace-id", f"trace_{random_bytes(16).hex()}".encode()),
        (b"x-cacheroute-runtime-profile", profile.encode()),
        (b"x-cacheroute-trace-sampled", b"1" if sampled else b"0"),
        (
            b"x-cacheroute-trace-created-at",
            f"{created.isoformat(timespec='microseconds')}Z".encode(),
        ),
    ]
