"""Names for requests: kept when a caller brings a good one, made otherwise."""

from collections.abc import Callable

MAX_REQUEST_ID_CHARS = 128
_ALLOWED = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+=@~",
)


def is_request_id(value: bytes) -> bool:
    """Whether a caller's id can be logged, echoed and forwarded as it stands."""
    return 0 < len(value) <= MAX_REQUEST_ID_CHARS and _ALLOWED.issuperset(value)


class RequestIds:
    """Makes request ids: a random stem for this process and a counter behind it.

    One system call at start instead of one per request; ids sort by arrival and never
    collide between two Proxies that drew different stems.
    """

    __slots__ = ("_count", "_stem")

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._stem = f"req-{random_bytes(6).hex()}-"
        self._count = 0

    def next(self) -> str:
        """Return the next id, for example `req-5f2c9a01be77-1a`."""
        self._count += 1
        return f"{self._stem}{self._count:x}"
