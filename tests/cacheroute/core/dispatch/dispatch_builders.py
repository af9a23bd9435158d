"""Tickets and reservations for tests: a builder names only what matters."""

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.reservation import Reservation
from cacheroute.core.dispatch.rules import QueueRules
from cacheroute.core.dispatch.ticket import Ticket


def a_board(slots: int | None = None, **rules: object) -> Board:
    """A board with the default rules, but for what is named."""
    return Board(QueueRules(**rules), slots)  # type: ignore[arg-type]


def enqueued(board: Board, count: int = 1, *, is_text: bool = False) -> list[Ticket]:
    """Tickets that have been taken in at turnstile 1."""
    tickets = [Ticket(is_text=is_text) for _ in range(count)]
    assert all(board.enqueue(ticket) for ticket in tickets)
    return tickets


def a_reservation(
    *,
    seq: int = 1,
    reserved_s: float = 0.0,
    service_ms: float = 100.0,
    decode_ms: float = 1000.0,
    holds_slot: bool = True,
) -> Reservation:
    """A reservation that stands on no timeline."""
    return Reservation(
        seq=seq,
        reserved_s=reserved_s,
        service_ms=service_ms,
        decode_ms=decode_ms,
        model_ms=service_ms,
        observable=True,
        holds_slot=holds_slot,
        path="text",
    )
