"""How much memory requests take while they are read, wait and are answered.

Each connection may be within every limit of its own, and all of them together still take more
than there is. Who holds much already is the first to get no more, so neither a few large
requests nor many slow ones keep the small ones out.

| A connection that holds   | may take more while all together hold  |
|---------------------------|----------------------------------------|
| up to 64 KiB              | less than the limit                    |
| up to 1 MiB               | less than three quarters of it         |
| more                      | less than half of it                   |
"""

_SMALL_BYTES = 64 * 1024
_MIDDLING_BYTES = 1024 * 1024
REQUEST_BYTES = 1024
"""What a request takes beside its body: nine thousand without any fit into one piece read."""


class RequestMemory:
    """What the connections of one server hold of requests, in bytes."""

    __slots__ = ("_limit_bytes", "_middling_bytes", "easy_bytes", "held_bytes")

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._middling_bytes = limit_bytes // 4 * 3
        self.easy_bytes = limit_bytes // 2
        """Up to here nobody needs to be asked."""
        self.held_bytes = 0
        """What all of them hold now."""

    def allows(self, held_bytes: int) -> bool:
        """Whether a connection may hold this much, which is counted already."""
        if held_bytes <= _SMALL_BYTES:
            return self.held_bytes <= self._limit_bytes
        if held_bytes <= _MIDDLING_BYTES:
            return self.held_bytes <= self._middling_bytes
        return self.held_bytes <= self.easy_bytes
