"""A list of numbers whose least is found quickly.

Kept in blocks, each with its own least: a change reads one block, a question reads only the
leasts of the blocks, and both loops run in C. At 1,000 numbers either costs less than 1 µs.
"""

import math

_BLOCK = 32
"""About the root of 1,000, so that a block is as long as the list of leasts."""
_SHORT = 32
"""A list no longer than this is looked through as quickly as its blocks."""


class Minima:
    """Numbers by index."""

    __slots__ = ("_block", "_leasts", "_values")

    def __init__(self, values: list[float]) -> None:
        self._values = values
        if len(values) <= _SHORT:
            self._block, self._leasts = 1, values  # blocks of one: the numbers are the leasts
        else:
            self._block = _BLOCK
            self._leasts = [min(values[at : at + _BLOCK]) for at in range(0, len(values), _BLOCK)]

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, index: int) -> float:
        return self._values[index]

    def put(self, index: int, value: float) -> None:
        """Change one number."""
        values, leasts = self._values, self._leasts
        before = values[index]
        values[index] = value
        if leasts is values:
            return
        block = index // _BLOCK
        least = leasts[block]
        if value <= least:
            leasts[block] = value
        elif before == least:
            leasts[block] = min(values[block * _BLOCK : (block + 1) * _BLOCK])

    def least(self) -> float:
        """Return the least of all."""
        return min(self._leasts)

    def least_from(self, start: int) -> tuple[float, int]:
        """Return the least and its index; of several, the first from `start` on, going round."""
        leasts, values = self._leasts, self._values
        least = min(leasts)
        size = self._block
        block = start // size
        if leasts[block] == least:
            try:
                return least, values.index(least, start, (block + 1) * size)
            except ValueError:
                pass  # it stands before the start
        try:
            block = leasts.index(least, block + 1)
        except ValueError:
            block = leasts.index(least)
        return least, values.index(least, block * size)

    def beside(self, index: int) -> tuple[float, int]:
        """Return the least of the others and the first index of it, by a look at them all."""
        values = self._values
        lifted = values[index]
        values[index] = math.inf
        least = min(values)
        where = values.index(least)
        values[index] = lifted
        return least, where
