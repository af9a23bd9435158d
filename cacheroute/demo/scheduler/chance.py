"""Where what is random comes from, so that a test can say what it is."""

import random
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Chance:
    """A source of random bytes and decisions."""

    _random: random.Random = field(default_factory=random.Random)

    def bytes(self, count: int) -> bytes:
        """Return this many bytes."""
        return self._random.randbytes(count)

    def happens(self, rate: float) -> bool:
        """Decide yes in this share of all cases, 0 to 1."""
        return self._random.random() < rate
