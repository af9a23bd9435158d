"""Two turnstiles, and who moves on."""

import math

import pytest

from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.core.pressure import Course
from tests.cacheroute.core.dispatch.dispatch_builders import a_board, enqueued


def stages(tickets: list[Ticket]) -> list[str]:
    return [ticket.stage for ticket in tickets]


# Turnstile 1


def test_so_many_are_prepared_at_once_and_the_others_wait() -> None:
    board = a_board(prepare_concurrency=2)
    tickets = enqueued(board, 4)
    assert stages(tickets) == ["preparing", "preparing", "waiting", "waiting"]
    assert (board.active_prepare, board.prepare_queue_depth) == (2, 2)
    assert [ticket.prepare_seq for ticket in tickets] == [1, 2, 3, 4]


def test_one_more_than_may_wait_is_turned_away_and_leaves_no_trace() -> None:
    board = a_board(prepare_concurrency=1, max_queue=2)
    enqueued(board, 3)
    refused = Ticket()
    assert not board.enqueue(refused)
    assert (refused.stage, refused.prepare_seq) == ("new", None)
    assert (board.active_prepare, board.prepare_queue_depth) == (1, 2)


def test_who_is_prepared_lets_the_next_one_begin_and_goes_on_itself() -> None:
    board = a_board(prepare_concurrency=1)
    first, second = enqueued(board, 2)
    assert board.prepared(first) == [first, second]
    assert stages([first, second]) == ["released", "preparing"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_who_leaves_frees_its_place_at_once(place: int) -> None:
    board = a_board(prepare_concurrency=1)
    tickets = enqueued(board, 3)
    moved = board.gone(tickets[place])
    assert moved == ([tickets[1]] if place == 0 else [])
    assert (board.active_prepare, board.prepare_queue_depth) == (1, 1)


# Turnstile 2


def test_no_more_are_released_than_there_are_slots() -> None:
    board = a_board(slots=1)
    first, second = enqueued(board, 2)
    assert board.prepared(first) == [first]
    assert board.prepared(second) == []
    assert (second.stage, board.ready_queue_depth, board.active_ready) == ("ready", 1, 1)
    assert board.gone(first) == [second]
    assert (board.ready_queue_depth, board.active_ready) == (0, 1)


def test_the_rules_say_how_many_slots_there_are_unless_the_instance_does() -> None:
    assert a_board(ready_concurrency=7).slots == 7
    assert a_board(slots=3, ready_concurrency=7).slots == 3


def test_prepared_ones_are_released_in_the_order_in_which_they_came() -> None:
    board = a_board()
    first, second, third = enqueued(board, 3)
    assert board.prepared(third) == []
    assert board.prepared(second) == []
    assert board.prepared(first) == [first, second, third]
    assert [t.release_seq for t in (first, second, third)] == [1, 2, 3]


def test_a_head_that_has_gone_blocks_nobody() -> None:
    board = a_board()
    first, second, third = enqueued(board, 3)
    board.prepared(second)
    board.prepared(third)
    assert board.gone(first) == [second, third]


def test_text_does_not_wait_for_a_slow_blob_where_it_may_pass() -> None:
    """Four text requests behind a transfer of seconds go as soon as they are prepared."""
    board = a_board(release_policy="text_bypass")
    (blob,) = enqueued(board)
    texts = enqueued(board, 4, is_text=True)
    for text in reversed(texts):
        assert board.prepared(text) == [text]
    assert {(t.bypassed, t.blocked_seq) for t in texts} == {(True, 1)}
    assert board.prepared(blob) == [blob]
    assert (blob.bypassed, blob.release_seq) == (False, 5)


def test_only_so_many_pass_at_a_time() -> None:
    board = a_board(slots=2, release_policy="text_bypass")
    running = [Ticket(), Ticket()]
    assert all(board.enter(ticket) for ticket in running)
    (blob,) = enqueued(board)
    texts = enqueued(board, 3, is_text=True)
    for text in texts:
        assert board.prepared(text) == []
    assert board.resize(4) == [texts[0]]
    assert board.gone(running[0]) == [texts[1]]
    assert board.prepared(blob) == [blob]


def test_a_head_that_waits_for_a_slot_alone_is_passed_by_nobody() -> None:
    board = a_board(slots=1, release_policy="text_bypass")
    assert board.enter(Ticket())
    (blob,) = enqueued(board)
    (text,) = enqueued(board, is_text=True)
    assert board.prepared(blob) == board.prepared(text) == []
    assert text.stage == "ready"


def test_how_it_goes_may_be_decided_until_it_is_prepared() -> None:
    board = a_board(release_policy="text_bypass")
    _, fallen_back = enqueued(board, 2)
    fallen_back.is_text = True
    assert board.prepared(fallen_back) == [fallen_back]


# Straight to turnstile 2


def test_who_needs_no_preparing_goes_at_once_while_there_is_a_slot() -> None:
    board = a_board(slots=1)
    first, second = Ticket(), Ticket()
    assert board.enter(first)
    assert board.enter(second)
    assert stages([first, second]) == ["released", "ready"]
    assert (first.prepare_seq, first.release_seq) == (None, 1)
    assert board.gone(first) == [second]


def test_it_does_not_wait_for_one_that_is_not_prepared() -> None:
    board = a_board(slots=1)
    (running,) = enqueued(board)
    board.prepared(running)
    enqueued(board)
    entered = Ticket()
    board.enter(entered)
    assert board.gone(running) == [entered]


def test_it_takes_its_turn_among_the_prepared() -> None:
    board = a_board(slots=1)
    running = Ticket()
    board.enter(running)
    (before,) = enqueued(board)
    entered = Ticket()
    board.enter(entered)
    (after,) = enqueued(board)
    board.prepared(after)
    board.prepared(before)
    order = []
    for _ in range(3):
        (running,) = board.gone(running)
        order.append(running)
    assert order == [before, entered, after]


def test_when_too_many_wait_for_a_slot_one_more_is_turned_away() -> None:
    board = a_board(slots=1, max_queue=2)
    assert [board.enter(Ticket()) for _ in range(4)] == [True, True, True, False]
    assert board.is_full
    assert board.ready_queue_depth == 2


def test_a_full_instance_has_nothing_more_prepared_for_it() -> None:
    """What is prepared would pile up behind it, and what waits shows as waiting."""
    board = a_board(slots=1, max_queue=2, prepare_concurrency=1)
    running = Ticket()
    board.enter(running)
    for ticket in (enqueued(board)[0], enqueued(board)[0]):
        board.prepared(ticket)
    (late,) = enqueued(board)
    assert (board.is_full, late.stage, board.active_prepare) == (True, "waiting", 0)
    moved = board.gone(running)
    assert stages(moved) == ["released", "preparing"]
    assert moved[1] is late


# Odd calls


def test_going_twice_and_going_before_one_came_do_nothing() -> None:
    board = a_board()
    (ticket,) = enqueued(board)
    board.prepared(ticket)
    board.gone(ticket)
    assert board.gone(ticket) == []
    assert board.gone(Ticket()) == []
    assert board.active_ready == 0


def test_one_that_left_while_it_was_prepared_goes_nowhere() -> None:
    board = a_board()
    (ticket,) = enqueued(board)
    board.gone(ticket)
    assert board.prepared(ticket) == []
    assert ticket.stage == "gone"


def test_a_ticket_is_used_once() -> None:
    board = a_board()
    (ticket,) = enqueued(board)
    with pytest.raises(ValueError, match=r"^a ticket is used once, and this one is preparing"):
        board.enqueue(ticket)
    with pytest.raises(ValueError, match=r"^a ticket is used once"):
        board.enter(ticket)


def test_fewer_slots_stop_nobody_and_release_nobody_until_enough_have_ended() -> None:
    board = a_board(slots=2)
    running = enqueued(board, 2)
    for ticket in running:
        board.prepared(ticket)
    assert board.resize(1) == []
    (waiting,) = enqueued(board)
    assert board.prepared(waiting) == []
    assert board.gone(running[0]) == []
    assert board.gone(running[1]) == [waiting]


# What is shown


def test_whoever_waits_can_be_listed_to_be_sent_away() -> None:
    board = a_board(slots=1, prepare_concurrency=1)
    running, entered = Ticket(), Ticket()
    board.enter(running)
    board.enter(entered)
    (ready,) = enqueued(board)
    board.prepared(ready)
    preparing, waiting = enqueued(board, 2)
    assert board.waiting() == [ready, waiting, entered]
    assert preparing.stage == "preparing"


def test_the_pressure_counts_every_stage() -> None:
    board = a_board(slots=1, prepare_concurrency=1)
    tickets = enqueued(board, 2)
    board.prepared(tickets[0])
    board.prepared(tickets[1])
    board.timeline.reserve(0.0, 500.0, 1500.0)
    enqueued(board, 3)
    pressure = board.pressure(0.25)
    assert pressure.as_mapping() == {
        "prepare_queue_depth": 2,
        "ready_queue_depth": 1,
        "active_prepare": 1,
        "active_ready": 1,
        "pending_prefill_count": 1,
        "active_decode_count": 0,
        "next_slot_ready_in_ms": 1750.0,
        "prefill_free_in_ms": 250.0,
        "predicted_total_backlog_ms": 1750.0,
    }
    assert (board.pending_prefill_count, board.active_decode_count) == (1, 0)
    assert board.is_ticking
    assert board.course(0.25) == Course(0.25, "falling", math.inf)


def test_the_counts_of_a_pressure_are_those_of_its_moment() -> None:
    board = a_board()
    board.timeline.reserve(0.0, 500.0, 1500.0, observable=False)
    pressure = board.pressure(0.75)
    assert (pressure.pending_prefill_count, pressure.active_decode_count) == (0, 1)


@pytest.mark.parametrize(("service_ms", "hint_s"), [(0.0, 1.0), (4200.0, 5.0), (1e9, 60.0)])
def test_asking_again_helps_when_the_backlog_is_over(service_ms: float, hint_s: float) -> None:
    board = a_board()
    board.timeline.reserve(0.0, service_ms, 0.0)
    assert board.retry_after_s(0.0) == hint_s
