"""One request's way through the turnstiles of an Instance."""

from typing import Literal

Stage = Literal["new", "waiting", "preparing", "ready", "released", "gone"]


class Ticket:
    """Where a request stands; changed by the board alone, but for `is_text`."""

    __slots__ = (
        "arrival", "blocked_seq", "bypassed", "is_text", "prepare_seq", "release_seq", "stage",
        "waker",
    )  # fmt: skip

    def __init__(self, waker: object = None, *, is_text: bool = False) -> None:
        self.waker = waker
        """Whatever wakes the request; the board hands it back and never looks at it."""
        self.is_text = is_text
        """Whether its knowledge goes as text; may change until it is prepared."""
        self.stage: Stage = "new"
        self.arrival = 0
        """Its number among all that came to this Instance, prepared or not."""
        self.prepare_seq: int | None = None
        """Its number among those that are prepared, from 1; None for one that need not be."""
        self.release_seq: int | None = None
        """Its number among those that were released, from 1; None before that."""
        self.bypassed = False
        """Whether it passed another one that was not prepared yet."""
        self.blocked_seq: int | None = None
        """`prepare_seq` of the one it passed; None when it passed nobody."""

    def __repr__(self) -> str:
        return f"<Ticket {self.stage} prepare_seq={self.prepare_seq}>"
