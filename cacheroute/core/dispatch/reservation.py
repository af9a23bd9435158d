"""One request's place on the timeline of its Instance."""

from typing import Literal

from cacheroute.core.dispatch.succession import Span

Stage = Literal["pending", "decode", "ended"]


class Reservation(Span):
    """What is predicted for a request that has been sent, and what is known by now.

    The span is its prefill: `start_s` and `end_s` are predictions until the first token is
    seen, and `end_s` is when it was seen from then on.
    """

    __slots__ = (
        "decode_s",
        "holds_slot",
        "model_ms",
        "observable",
        "path",
        "reserved_s",
        "seq",
        "service_ms",
        "slot_ready_s",
        "stage",
    )

    def __init__(
        self,
        *,
        seq: int,
        reserved_s: float,
        service_ms: float,
        decode_ms: float,
        model_ms: float,
        observable: bool,
        holds_slot: bool,
        path: str,
    ) -> None:
        Span.__init__(self, service_ms / 1000)
        self.seq = seq
        """Its number on this Instance, from 1."""
        self.stage: Stage = "pending"
        self.reserved_s = reserved_s
        """When it was reserved, on the monotonic clock."""
        self.service_ms = service_ms
        """How long its prefill is predicted to take."""
        self.model_ms = model_ms
        """The same as the model alone predicts it, before any correction."""
        self.decode_s = decode_ms / 1000
        """How long it is predicted to produce tokens after the first."""
        self.observable = observable
        """Whether its first token can be seen; that of an answer in one piece cannot."""
        self.holds_slot = holds_slot
        """Whether it takes one of the slots of the Instance."""
        self.path = path
        """How its prompt got there, `text` or `kv`; services are compared within one path."""
        self.slot_ready_s = reserved_s
        """When a slot was predicted to be free for it."""

    @property
    def prefill_start_s(self) -> float:
        """When the Instance is predicted to begin with its prompt."""
        return self.start_s

    @property
    def first_token_s(self) -> float:
        """When its first token is predicted, or was seen."""
        return self.end_s

    @property
    def forward_end_s(self) -> float:
        """When its answer is predicted to be complete."""
        return self.end_s + self.decode_s
