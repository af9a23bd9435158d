from cacheroute.core.dispatch.ticket import Ticket


def test_a_new_ticket_has_been_nowhere() -> None:
    waker = object()
    ticket = Ticket(waker, is_text=True)
    assert ticket.waker is waker
    assert (ticket.stage, ticket.is_text, ticket.bypassed) == ("new", True, False)
    assert (ticket.prepare_seq, ticket.release_seq, ticket.blocked_seq) == (None, None, None)


def test_a_ticket_shows_where_it_stands() -> None:
    assert repr(Ticket()) == "<Ticket new prepare_seq=None>"
