"""protocol 4.1: what became of the knowledge that was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.injection.knowledge import (
    Classified,
    KnowledgeItem,
    KnowledgeTokens,
    classify,
    count_tokens,
    distinct,
    normalised,
)


def item(kid: str, content: str = "text", *, kv: bool = False) -> KnowledgeItem:
    return KnowledgeItem(id=kid, content=content, kv_ready=kv)


def test_each_id_has_one_class() -> None:
    found = classify(["a", "b", "c", "d"], [item("b"), item("a", kv=True), item("d")], ["d"])
    assert found.kv_ready == ("a",)
    assert found.text_only == ("b",)
    assert found.miss == ("c", "d")


def test_ids_match_without_regard_to_case_and_are_told_as_requested() -> None:
    """protocol 8, number 17: upper-case ids are fetched and then called missing."""
    found = classify([" AA ", "Bb", "CC"], [item("aa", kv=True), item("BB ")], ["cc"])
    assert (found.kv_ready, found.text_only, found.miss) == ((" AA ",), ("Bb",), ("CC",))


def test_what_is_asked_for_twice_counts_once() -> None:
    found = classify(["a", "A", "x", "x"], [item("a"), item("a", "again")], [])
    assert (found.text_only, found.miss, found.context) == (("a",), ("x",), "text")


def test_what_nobody_asked_for_is_not_there() -> None:
    assert classify([], [item("a")], ["b"]) == Classified()


def test_pieces_with_kv_stand_in_front_and_only_the_first_can_be_hit() -> None:
    """protocol 8, number 35: each piece's KV was built at the very front."""
    found = classify(
        ["t", "k1", "k2"],
        [item("t", "T"), item("k1", "K1", kv=True), item("k2", "K2", kv=True)],
        [],
    )
    assert found.context == "K1\nK2\nT"
    assert found.prefix_kids == ("k1",)
    assert found.prefix_characters == 2
    assert found.text_kids == ("k1", "k2", "t")


def test_a_piece_without_text_is_there_but_adds_nothing() -> None:
    found = classify(
        ["a", "b", "c"], [item("a", " \r\n ", kv=True), item("b", "B", kv=True), item("c", "")], []
    )
    assert (found.kv_ready, found.text_only) == (("a", "b"), ("c",))
    assert (found.context, found.prefix_kids) == ("B", ("b",))


def test_text_alone_has_no_prefix() -> None:
    assert classify(["a"], [item("a")], []).prefix_kids == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [(" a\r\nb\n\n", "a\nb"), ("a \n b", "a \n b"), ("\r\n", ""), ("a\rb", "a\rb")],
)
def test_text_is_normalised_as_its_kv_was(given: str, expected: str) -> None:
    assert normalised(given) == expected


def test_each_id_is_kept_as_it_was_first_written() -> None:
    assert distinct(["B", "a", "b "]) == {"b": "B", "a": "a"}


def test_the_count_is_shared_out_to_what_was_found() -> None:
    """protocol 8, number 35: the published count is of everything that was asked for."""
    found = classify(["a", "b", "c", "d"], [item("a", "x" * 30, kv=True), item("b", "y" * 69)], [])
    assert count_tokens(found, 1000) == KnowledgeTokens(total=500, reusable=150)


def test_without_a_count_four_characters_are_a_token() -> None:
    found = classify(["a"], [item("a", "x" * 400, kv=True)], [])
    assert count_tokens(found, 0) == KnowledgeTokens(total=100, reusable=100)


def test_nothing_found_has_no_tokens() -> None:
    assert count_tokens(classify(["a"], [], []), 1000) == KnowledgeTokens(total=0, reusable=0)


ids = st.lists(st.sampled_from(["a", "A", "b", "B ", "c", "d"]))


@given(ids, st.lists(st.builds(KnowledgeItem, id=st.sampled_from("ABcx"), content=st.text(),
                               kv_ready=st.booleans())), ids, st.integers(0, 10**6))  # fmt: skip
def test_every_requested_id_is_in_exactly_one_class(
    requested: list[str], items: list[KnowledgeItem], missing: list[str], counted: int
) -> None:
    found = classify(requested, items, missing)
    classes = found.kv_ready + found.text_only + found.miss
    assert sorted(classes) == sorted(distinct(requested).values())
    assert set(found.prefix_kids) <= set(found.kv_ready)
    tokens = count_tokens(found, counted)
    assert 0 <= tokens.reusable <= tokens.total
