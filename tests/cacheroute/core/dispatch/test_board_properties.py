"""Whatever happens before an Instance, nobody is forgotten and nothing is left behind."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from cacheroute.core.dispatch.board import Board
from cacheroute.core.dispatch.ticket import Ticket
from tests.cacheroute.core.dispatch.dispatch_builders import a_board

PREPARING, SLOTS, QUEUE = 2, 3, 4


class TurnstilesInUse(RuleBasedStateMachine):
    """Requests come, are prepared in any order, and go at any stage."""

    board: Board

    @initialize(policy=st.sampled_from(["ordered", "text_bypass"]), passing=st.integers(1, 2))
    def open_them(self, policy: str, passing: int) -> None:
        self.is_ordered, self.passing = policy == "ordered", passing
        self.board = a_board(
            SLOTS,
            prepare_concurrency=PREPARING,
            max_queue=QUEUE,
            release_policy=policy,
            text_bypass_max_per_flush=passing,
        )
        self.inside: list[Ticket] = []
        self.stage_told: dict[Ticket, str] = {}
        """Where each was when it came or was last returned as moving on."""

    def told(self, moved: list[Ticket]) -> None:
        """What the owner does: it wakes exactly these."""
        assert len(set(moved)) == len(moved)
        released = [t for t in moved if t.stage == "released"]
        assert sum(t.bypassed for t in released) <= self.passing
        for ticket in moved:
            assert ticket.stage in ("preparing", "released")
            self.stage_told[ticket] = ticket.stage

    def came(self, ticket: Ticket, is_taken: bool) -> None:
        if is_taken:
            self.inside.append(ticket)
            self.stage_told[ticket] = ticket.stage

    def finish(self, ticket: Ticket) -> None:
        moved = self.board.prepared(ticket)
        if ticket not in moved:
            self.stage_told[ticket] = "ready"
        self.told(moved)

    def leave(self, ticket: Ticket) -> None:
        self.inside.remove(ticket)
        self.told(self.board.gone(ticket))
        assert self.board.gone(ticket) == []

    @rule(is_text=st.booleans())
    def enqueue(self, is_text: bool) -> None:
        ticket = Ticket(is_text=is_text)
        must_wait = self.board.active_prepare >= PREPARING or self.board.is_full
        no_place = self.board.prepare_queue_depth >= QUEUE
        is_taken = self.board.enqueue(ticket)
        assert is_taken == (not (must_wait and no_place))
        self.came(ticket, is_taken)

    @rule()
    def enter(self) -> None:
        ticket = Ticket()
        has_slot, is_full = self.board.active_ready < SLOTS, self.board.is_full
        is_taken = self.board.enter(ticket)
        assert is_taken == (has_slot or not is_full)
        assert not has_slot or ticket.stage == "released"
        self.came(ticket, is_taken)

    @precondition(lambda self: self.board.active_prepare)
    @rule(pick=st.integers(0, 100), becomes_text=st.booleans())
    def prepared(self, pick: int, becomes_text: bool) -> None:
        preparing = [t for t in self.inside if t.stage == "preparing"]
        ticket = preparing[pick % len(preparing)]
        ticket.is_text = ticket.is_text or becomes_text
        self.finish(ticket)

    @precondition(lambda self: self.inside)
    @rule(pick=st.integers(0, 100))
    def go(self, pick: int) -> None:
        self.leave(self.inside[pick % len(self.inside)])

    @invariant()
    def the_limits_hold(self) -> None:
        board = self.board
        assert board.active_prepare <= PREPARING
        assert board.active_ready <= SLOTS
        assert board.prepare_queue_depth <= QUEUE
        assert board.ready_queue_depth <= QUEUE + PREPARING

    @invariant()
    def the_figures_count_who_is_there(self) -> None:
        stages = [ticket.stage for ticket in self.inside]
        board = self.board
        assert board.prepare_queue_depth == stages.count("waiting")
        assert board.active_prepare == stages.count("preparing")
        assert board.ready_queue_depth == stages.count("ready")
        assert board.active_ready == stages.count("released")
        assert len(board.waiting()) == stages.count("waiting") + stages.count("ready")

    @invariant()
    def whoever_moved_on_was_told(self) -> None:
        assert all(self.stage_told[ticket] == ticket.stage for ticket in self.inside)

    @invariant()
    def nobody_waits_without_a_reason(self) -> None:
        board = self.board
        line = sorted((t for t in self.inside if t.stage != "released"), key=lambda t: t.arrival)
        if any(t.stage == "waiting" for t in line):
            assert board.active_prepare == PREPARING or board.is_full
        if board.active_ready < SLOTS:
            in_order = [t for t in line if t.prepare_seq is not None]
            assert all(t.prepare_seq is not None for t in line if t.stage == "ready")
            assert not in_order or in_order[0].stage != "ready"
            assert self.is_ordered or not any(t.stage == "ready" and t.is_text for t in line)

    @invariant()
    def release_follows_the_order(self) -> None:
        through = [t for t in self.inside if t.stage == "released" and t.prepare_seq]
        through.sort(key=lambda ticket: ticket.release_seq or 0)
        in_order = [t.prepare_seq or 0 for t in through if not t.bypassed]
        assert in_order == sorted(in_order)
        for ticket in through:
            assert not (self.is_ordered and ticket.bypassed)
            if ticket.bypassed:
                assert ticket.is_text
                assert (ticket.blocked_seq or 0) < (ticket.prepare_seq or 0)

    def teardown(self) -> None:
        if not hasattr(self, "board"):
            return
        for _ in range(10_000):
            if not self.inside:
                break
            busy = [t for t in self.inside if t.stage in ("preparing", "released")]
            assert busy, "everybody waits, and nobody is left who could wake them"
            if busy[0].stage == "preparing":
                self.finish(busy[0])
            else:
                self.leave(busy[0])
        board = self.board
        assert not self.inside
        assert set(board.pressure(0.0).as_mapping().values()) == {0}
        assert [len(line) for line in (board._waiting, board._line, board._entered)] == [0, 0, 0]
        assert board._prepared == 0
        assert not getattr(board._policy, "_texts", None)


TurnstilesInUse.TestCase.settings = settings(max_examples=80, stateful_step_count=50, deadline=None)
TestTurnstilesInUse = TurnstilesInUse.TestCase
