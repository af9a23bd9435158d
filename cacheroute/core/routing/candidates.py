"""The Instances one kind of request may go to, kept until the pool changes.

Selection walks this, not the pool: who may serve a model changes with registrations and
failures, a thousand times less often than requests come.
"""

from cacheroute.core.routing.filters import Sifted
from cacheroute.core.routing.tiers import Tiers


class Candidates:
    """A fixed list of Members, with its own turn among them."""

    __slots__ = ("members", "sifted", "tiers", "turn")

    def __init__(self, sifted: Sifted, tiers: Tiers) -> None:
        self.sifted = sifted
        self.members = tiers.members
        self.tiers = tiers
        """What is kept beside the Members; lists of the same ones share it, as adapters by the
        hundred may have such lists."""
        self.turn: int | None = None
        """Where its round stands; None before the first choice."""
