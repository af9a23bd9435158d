"""How many requests came in the last minute, in sixty counters whatever the rate."""

_SLOTS = 60


class MinuteRate:
    """Requests per second over a sliding minute."""

    __slots__ = ("_counts", "_second")

    def __init__(self) -> None:
        self._counts = [0] * _SLOTS
        self._second = 0

    def add(self, now_s: float) -> None:
        """Count one request."""
        self._advance(now_s)
        self._counts[self._second % _SLOTS] += 1

    def per_second(self, now_s: float) -> float:
        """Return the rate; a process younger than a minute shows less than it had."""
        self._advance(now_s)
        return sum(self._counts) / _SLOTS

    def _advance(self, now_s: float) -> None:
        second = int(now_s)
        for passed in range(max(self._second + 1, second - _SLOTS + 1), second + 1):
            self._counts[passed % _SLOTS] = 0
        self._second = max(self._second, second)
