import pytest

from cacheroute.core.model_cards import MAX_CARDS, Card, ModelCards


def card(name: object, **fields: object) -> Card:
    return {"id": name, "object": "model", **fields}


def test_cards_are_told_as_their_instance_wrote_them() -> None:
    cards = ModelCards()
    written = card("m", root="/weights/m", max_model_len=4096, permission=[{"a": None}])
    assert cards.put("i-1", [written]) == {"m"}
    assert cards.merged([("i-1", ())]) == [written]


def test_the_first_instance_that_has_a_card_is_quoted() -> None:
    cards = ModelCards()
    cards.put("i-1", [card("m", owned_by="one"), card("a")])
    cards.put("i-2", [card("m", owned_by="two"), card("b")])
    assert cards.merged([("i-1", ()), ("i-2", ())]) == [
        card("m", owned_by="one"), card("a"), card("b"),
    ]  # fmt: skip
    assert cards.merged([("i-2", ()), ("i-1", ())])[0]["owned_by"] == "two"


def test_the_list_is_of_those_alive() -> None:
    cards = ModelCards()
    cards.put("i-1", [card("a")])
    cards.put("i-2", [card("b")])
    assert cards.merged([("i-2", ())]) == [card("b")]
    assert cards.merged([]) == []


def test_what_was_declared_and_never_listed_gets_the_least_a_card_must_have() -> None:
    cards = ModelCards()
    assert cards.merged([("i-1", {"z", "a"})]) == [
        {"id": "a", "object": "model", "created": 0, "owned_by": "cacheroute"},
        {"id": "z", "object": "model", "created": 0, "owned_by": "cacheroute"},
    ]


def test_a_real_card_is_better_than_a_made_one() -> None:
    cards = ModelCards()
    cards.put("i-2", [card("m", owned_by="vllm")])
    assert cards.merged([("i-1", ["m"]), ("i-2", ())]) == [card("m", owned_by="vllm")]


def test_what_an_instance_lists_outranks_what_it_declared() -> None:
    """An engine may declare the path of its weights and serve them by another name."""
    cards = ModelCards()
    cards.put("i-1", [card("nice-name")])
    assert [c["id"] for c in cards.merged([("i-1", ["/weights/m"])])] == ["nice-name"]


def test_a_new_list_replaces_the_old_one() -> None:
    cards = ModelCards()
    cards.put("i-1", [card("old")])
    cards.put("i-1", [card("new")])
    assert cards.merged([("i-1", ())]) == [card("new")]


def test_one_that_has_left_is_forgotten_and_may_be_forgotten_twice() -> None:
    cards = ModelCards()
    cards.put("i-1", [card("m")])
    cards.drop("i-1")
    cards.drop("i-1")
    assert cards.merged([("i-1", ())]) == []


@pytest.mark.parametrize("name", [None, 7, "", ["m"], "x" * 513])
def test_a_card_without_a_usable_name_is_left_out(name: object) -> None:
    cards = ModelCards()
    assert cards.put("i-1", [card(name), {}, card("m")]) == {"m"}


def test_an_instance_cannot_fill_the_memory_with_cards() -> None:
    names = ModelCards().put("i-1", (card(f"m-{n}") for n in range(10 * MAX_CARDS)))
    assert len(names) == MAX_CARDS
