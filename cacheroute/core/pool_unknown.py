"""Ids that speak to us and are not in the pool, counted.

The ids are chosen by whoever calls, so the map is bounded: the one unseen for longest
makes room.
"""


class UnknownIds:
    """How often each unknown id was seen, for the most recent of them."""

    __slots__ = ("_counts", "_max", "total")

    def __init__(self, max_ids: int) -> None:
        self._counts: dict[str, int] = {}
        self._max = max_ids
        self.total = 0
        """Every sighting, including those of ids forgotten since."""

    def __len__(self) -> int:
        return len(self._counts)

    def saw(self, instance_id: str) -> bool:
        """Count one sighting; True when it is the first, as far as is remembered."""
        self.total += 1
        count = self._counts.pop(instance_id, 0)
        # A dict keeps insertion order, so taking out and putting back is the whole LRU.
        self._counts[instance_id] = count + 1
        if len(self._counts) > self._max:
            del self._counts[next(iter(self._counts))]
        return count == 0

    def forget(self, instance_id: str) -> None:
        """Drop an id that has registered, so that losing it again is news again."""
        self._counts.pop(instance_id, None)

    def count(self, instance_id: str) -> int:
        """Return the sightings of one id; 0 when it is not remembered."""
        return self._counts.get(instance_id, 0)
