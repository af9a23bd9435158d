"""Transfers of KV blobs, and what is predicted for the next one."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from cacheroute.core.dispatch.links import LinkReservation, Links

KEY = ("i-1", "kdn:9101")


def test_a_second_transfer_is_predicted_to_begin_when_the_first_ends() -> None:
    links = Links()
    first = links.reserve(KEY, 10.0, 2000.0)
    second = links.reserve(KEY, 10.5, 1000.0)
    assert (first.start_s, first.wait_ms, first.end_s) == (10.0, 0.0, 12.0)
    assert (second.start_s, second.wait_ms, second.end_s) == (12.0, 1500.0, 13.0)
    assert links.free_in_ms(KEY, 10.5) == 2500.0


def test_the_version_moves_with_every_transfer_that_comes_or_goes() -> None:
    links = Links()
    versions = [links.version]
    first, second = (links.reserve(KEY, 0.0, 1000.0) for _ in range(2))
    versions.append(links.version)
    for transfer in (first, second):
        links.done(transfer, 0.5)
        versions.append(links.version)
    assert len(set(versions)) == 4
    links.done(second, 0.6)
    assert links.version == versions[-1]


def test_a_transfer_that_is_faster_than_predicted_frees_the_link() -> None:
    """Predicted at 2,144 ms and over after 77: the next one waits for nothing."""
    links = Links()
    first = links.reserve(KEY, 0.0, 2144.0)
    links.done(first, 0.077)
    assert links.free_in_ms(KEY, 0.077) == 0.0
    assert links.reserve(KEY, 0.1, 2144.0).wait_ms == 0.0


def test_those_behind_a_fast_one_move_up() -> None:
    links = Links()
    first, second = (links.reserve(KEY, 0.0, 1000.0) for _ in range(2))
    links.done(first, 0.1)
    assert (second.start_s, second.end_s) == (0.1, 1.1)
    assert links.free_in_ms(KEY, 0.1) == pytest.approx(1000.0)


def test_those_behind_a_late_one_move_back() -> None:
    links = Links()
    first, second = (links.reserve(KEY, 0.0, 1000.0) for _ in range(2))
    assert links.free_in_ms(KEY, 3.0) == pytest.approx(2000.0 + 1000.0)
    links.done(first, 3.0)
    assert second.start_s == 3.0


def test_transfers_may_end_in_any_order_and_be_given_up_twice() -> None:
    links = Links()
    first, second = (links.reserve(KEY, 0.0, 1000.0) for _ in range(2))
    links.done(second, 0.5)
    links.done(second, 0.6)
    assert links.free_in_ms(KEY, 0.5) == pytest.approx(500.0)
    links.done(first, 0.7)
    assert len(links) == 0


def test_links_in_use_are_counted_by_instance() -> None:
    links = Links()
    last = [links.reserve(key, 0.0, 1000.0) for key in (KEY, KEY, ("i-1", "b:1"), ("i-2", "b:1"))]
    assert links.in_use() == {"i-1": 2, "i-2": 1}
    links.done(last[3], 0.1)
    assert links.in_use() == {"i-1": 2}


def test_links_do_not_know_each_other() -> None:
    links = Links()
    links.reserve(KEY, 0.0, 1000.0)
    assert links.free_in_ms(("i-2", "kdn:9101"), 0.0) == 0.0
    assert links.free_in_ms(("i-1", "other:9101"), 0.0) == 0.0


def test_asking_about_a_link_does_not_make_one() -> None:
    links = Links()
    links.free_in_ms(KEY, 0.0)
    assert len(links) == 0


def test_a_transfer_to_an_instance_that_left_does_not_disturb_the_one_that_came_back() -> None:
    links = Links()
    before = links.reserve(KEY, 0.0, 1000.0)
    links.drop_instance("i-1")
    assert links.free_in_ms(KEY, 0.0) == 0.0
    links.reserve(KEY, 0.0, 300.0)
    links.done(before, 0.1)
    assert links.free_in_ms(KEY, 0.1) == pytest.approx(200.0)
    links.drop_instance("nobody")


class LinksInUse(RuleBasedStateMachine):
    """Transfers begin, end, fail twice and lose their Instance, in any order."""

    transfers: Bundle[LinkReservation] = Bundle("transfers")

    def __init__(self) -> None:
        super().__init__()
        self.links = Links()
        self.now_s = 0.0
        self.outstanding: set[LinkReservation] = set()

    @rule(
        target=transfers,
        instance_id=st.sampled_from(["a", "b"]),
        kdn=st.sampled_from(["k", "l"]),
        transfer_ms=st.floats(0, 5000),
    )
    def reserve(self, instance_id: str, kdn: str, transfer_ms: float) -> LinkReservation:
        transfer = self.links.reserve((instance_id, kdn), self.now_s, transfer_ms)
        assert transfer.wait_ms >= 0
        assert self.now_s <= transfer.start_s <= transfer.end_s
        self.outstanding.add(transfer)
        return transfer

    @rule(transfer=transfers)
    def done(self, transfer: LinkReservation) -> None:
        self.links.done(transfer, self.now_s)
        self.outstanding.discard(transfer)

    @rule(instance_id=st.sampled_from(["a", "b"]))
    def drop(self, instance_id: str) -> None:
        self.links.drop_instance(instance_id)
        self.outstanding = {t for t in self.outstanding if t.key[0] != instance_id}

    @rule(seconds=st.floats(0, 3))
    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    @invariant()
    def each_node_has_what_is_outstanding_on_its_links(self) -> None:
        for node in ("k", "l"):
            keys = [transfer.key for transfer in self.outstanding if transfer.key[1] == node]
            running, waiting = self.links.by_node().get(node, (0, 0))
            assert (running, waiting) == (len(set(keys)), len(keys) - len(set(keys)))

    @invariant()
    def only_what_is_outstanding_is_kept(self) -> None:
        keys = {transfer.key for transfer in self.outstanding}
        assert len(self.links) == len(keys)
        for key in (("a", "k"), ("a", "l"), ("b", "k"), ("b", "l")):
            free_in_ms = self.links.free_in_ms(key, self.now_s)
            assert free_in_ms >= 0
            if key not in keys:
                assert free_in_ms == 0

    def teardown(self) -> None:
        for transfer in self.outstanding:
            self.links.done(transfer, self.now_s)
        assert len(self.links) == 0
        assert not self.links._by_instance


LinksInUse.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestLinksInUse = LinksInUse.TestCase
