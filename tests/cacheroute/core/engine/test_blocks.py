"""Blocks are never lost, never shared by accident, and never evicted while held."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from cacheroute.core.engine.blocks import Holding, KvSpace, chain_keys


def fill(space: KvSpace, keys: list[int]) -> Holding:
    """Hold and publish blocks as a request that computes them all would."""
    holding = space.hold(keys, len(keys), len(keys))
    assert holding is not None
    for key in keys:
        if key not in holding.shared:
            space.publish(holding, key)
    return holding


@given(st.binary(max_size=200), st.binary(max_size=200), st.binary(max_size=200))
def test_keys_agree_exactly_as_far_as_the_streams_do(head: bytes, a: bytes, b: bytes) -> None:
    keys_a, keys_b = chain_keys(head + a, 8), chain_keys(head + b, 8)
    for end, (key_a, key_b) in enumerate(zip(keys_a, keys_b, strict=False), start=1):
        assert (key_a == key_b) == ((head + a)[: 8 * end] == (head + b)[: 8 * end])


def test_only_whole_blocks_have_a_key() -> None:
    assert chain_keys(b"1234567", 8) == []
    assert len(chain_keys(b"x" * 17, 8)) == 2


def test_another_seed_shares_nothing() -> None:
    assert not set(chain_keys(b"x" * 64, 8, seed=1)) & set(chain_keys(b"x" * 64, 8, seed=2))


def test_what_was_given_back_can_be_hit() -> None:
    space = KvSpace(10)
    space.release(fill(space, [1, 2, 3]))
    assert (space.held, space.remembered, space.free) == (0, 3, 7)
    again = space.hold([1, 2, 9], 3, 5)
    assert again is not None
    assert again.shared == [1, 2]
    assert (space.held, space.remembered, space.free) == (5, 1, 4)


def test_a_hit_ends_at_the_first_gap() -> None:
    space = KvSpace(10)
    space.release(fill(space, [1, 2, 3]))
    assert space.match([1, 9, 3], 3) == 1
    assert space.match([1, 2, 3], 2) == 2


def test_a_block_that_is_held_is_never_evicted() -> None:
    space = KvSpace(4)
    held = fill(space, [1, 2])
    assert space.hold([7, 8, 9], 3, 3) is None
    assert (space.held, space.evicted) == (2, 0)
    space.release(held)
    assert space.hold([7, 8, 9], 3, 3) is not None
    assert space.evicted == 1


def test_room_that_a_hit_needs_is_not_counted_as_room() -> None:
    space = KvSpace(4)
    space.release(fill(space, [1, 2, 3]))
    assert space.hold([1, 2, 3], 3, 5) is None
    assert space.remembered == 3
    assert space.hold([1, 2, 3], 3, 4) is not None


def test_the_end_of_a_prompt_is_forgotten_before_its_beginning() -> None:
    space = KvSpace(4)
    space.release(fill(space, [1, 2, 3, 4]))
    assert space.hold([], 0, 2) is not None
    assert space.match([1, 2, 3, 4], 4) == 2


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    space = KvSpace(3)
    for key in (1, 2, 3):
        space.release(fill(space, [key]))
    space.release(fill(space, [1]))
    assert space.hold([], 0, 1) is not None
    assert [space.match([key], 1) for key in (1, 2, 3)] == [1, 0, 1]


def test_a_block_computed_twice_is_there_twice_and_remembered_once() -> None:
    space = KvSpace(4)
    first = space.hold([5], 0, 1)
    second = space.hold([5], 0, 1)
    assert first is not None
    assert second is not None
    space.publish(first, 5)
    space.publish(second, 5)
    assert space.held == 2
    space.release(first)
    space.release(second)
    assert (space.held, space.remembered, space.free) == (0, 1, 3)


class Space(RuleBasedStateMachine):
    """Random holds, publications and releases over a small key space."""

    def __init__(self) -> None:
        super().__init__()
        self.space = KvSpace(12)
        self.holdings: list[tuple[Holding, list[int]]] = []

    @rule(
        start=st.integers(0, 3), length=st.integers(0, 5), most=st.integers(0, 5),
        extra=st.integers(0, 4),
    )  # fmt: skip
    def hold(self, start: int, length: int, most: int, extra: int) -> None:
        keys = [start * 10 + n for n in range(length)]
        before = (self.space.held, self.space.remembered, self.space.free)
        blocks = length + extra
        holding = self.space.hold(keys, most, blocks)
        if holding is None:
            assert before == (self.space.held, self.space.remembered, self.space.free)
        else:
            assert len(holding.shared) + holding.private == blocks
            assert len(holding.shared) <= most
            self.holdings.append((holding, keys[len(holding.shared) :]))

    @precondition(lambda self: self.holdings)
    @rule(data=st.data())
    def publish(self, data: st.DataObject) -> None:
        holding, due = data.draw(st.sampled_from(self.holdings))
        if due:
            self.space.publish(holding, due.pop(0))

    @precondition(lambda self: self.holdings)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        taken = data.draw(st.integers(0, len(self.holdings) - 1))
        holding, _due = self.holdings.pop(taken)
        self.space.release(holding)

    @invariant()
    def every_block_is_somewhere(self) -> None:
        space = self.space
        assert space.held + space.remembered + space.free == space.capacity
        assert min(space.held, space.remembered, space.free) >= 0

    @invariant()
    def held_is_what_holders_hold(self) -> None:
        shared = {key for holding, _due in self.holdings for key in holding.shared}
        private = sum(holding.private for holding, _due in self.holdings)
        assert self.space.held == len(shared) + private

    @invariant()
    def what_is_held_is_there(self) -> None:
        for holding, _due in self.holdings:
            for key in holding.shared:
                assert self.space.match([key], 1) == 1


TestSpace = Space.TestCase
