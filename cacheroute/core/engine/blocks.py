"""The KV space of one Instance: blocks that are shared, private or free.

Running requests and remembered prefixes live in one space. A block that a request holds is
never evicted; one that nobody holds stays until its room is needed, least recently used first.
"""

from collections import OrderedDict
from collections.abc import Sequence
from itertools import islice

import xxhash


def chain_keys(stream: bytes, block_bytes: int, *, seed: int = 0) -> list[int]:
    """Return one key per whole block of `stream`; each key stands for all up to its end.

    Equal keys mean equal prefixes. A different `seed` shares nothing with another.
    """
    digest = xxhash.xxh3_64_intdigest
    keys: list[int] = []
    key = seed
    for start in range(0, len(stream) - block_bytes + 1, block_bytes):
        key = digest(stream[start : start + block_bytes], key)
        keys.append(key)
    return keys


class Holding:
    """The blocks of one request; only its `KvSpace` changes it."""

    __slots__ = ("private", "shared")

    def __init__(self, shared: list[int], private: int) -> None:
        self.shared = shared
        """Keys of the blocks it shares, from the start of its prompt on."""
        self.private = private
        """How many blocks nobody else can see: not computed yet, not full, or computed twice."""


class KvSpace:
    """A fixed number of blocks."""

    __slots__ = ("_holders", "_idle", "_private", "capacity", "evicted")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        """Blocks in all."""
        self.evicted = 0
        """Blocks forgotten so far to make room."""
        self._private = 0
        self._holders: dict[int, int] = {}
        self._idle: OrderedDict[int, None] = OrderedDict()

    @property
    def held(self) -> int:
        """Blocks that requests hold now."""
        return self._private + len(self._holders) - len(self._idle)

    @property
    def remembered(self) -> int:
        """Blocks that nobody holds and that could still be hit."""
        return len(self._idle)

    @property
    def free(self) -> int:
        """Blocks with nothing in them."""
        return self.capacity - self._private - len(self._holders)

    def match(self, keys: Sequence[int], most: int) -> int:
        """Return how many of the first `most` keys are here, without a gap."""
        holders = self._holders
        found = 0
        for key in islice(keys, most):
            if key not in holders:
                break
            found += 1
        return found

    def hold(self, keys: Sequence[int], most: int, blocks: int) -> Holding | None:
        """Hold `blocks` blocks, shared ones among the first `most` keys first.

        None when there is no room for the rest; nothing has changed then.
        """
        hits = self.match(keys, most)
        shared = list(islice(keys, hits))
        idle = self._idle
        wanted = blocks - hits
        room = self.free + len(idle)
        if wanted > room - hits and wanted > room - sum(key in idle for key in shared):
            return None
        for key in shared:
            self._holders[key] += 1
            idle.pop(key, None)
        for _ in range(wanted - self.free):
            forgotten, _none = idle.popitem(last=False)
            del self._holders[forgotten]
            self.evicted += 1
        self._private += wanted
        return Holding(shared, wanted)

    def publish(self, holding: Holding, key: int) -> None:
        """Let others hit a block that this holder has computed.

        A block that somebody else has published already stays private: it is there twice.
        """
        if key in self._holders:
            return
        self._holders[key] = 1
        self._private -= 1
        holding.private -= 1
        holding.shared.append(key)

    def release(self, holding: Holding) -> None:
        """Give every block back; shared ones are remembered.

        The end of a prompt is forgotten before its beginning, which more requests share.
        """
        holders = self._holders
        for key in reversed(holding.shared):
            left = holders[key] - 1
            holders[key] = left
            if not left:
                self._idle[key] = None
        self._private -= holding.private
        holding.shared = []
        holding.private = 0
