import json

from cacheroute.core.model_cards import ModelCards
from cacheroute.planes.models import MAX_TOLD, ModelList, told_models
from tests.cacheroute.core.pool_builders import a_pool, an_instance


def a_list() -> ModelList:
    cards = ModelCards()
    cards.put("i-1", [{"id": "org/m", "object": "model", "owned_by": "vllm", "x": [1, None]}])
    return ModelList(lambda: [("i-1", ()), ("i-2", ["declared"])], cards)


def test_the_list_is_openais_with_each_card_as_it_was() -> None:
    assert json.loads(a_list().listing()) == {
        "object": "list",
        "data": [
            {"id": "org/m", "object": "model", "owned_by": "vllm", "x": [1, None]},
            {"id": "declared", "object": "model", "created": 0, "owned_by": "cacheroute"},
        ],
    }


def test_one_card_can_be_asked_for() -> None:
    card = a_list().card("org/m")
    assert card is not None
    assert json.loads(card)["owned_by"] == "vllm"
    assert a_list().card("org") is None


def test_an_empty_pool_serves_an_empty_list() -> None:
    models = ModelList(list, ModelCards())
    assert json.loads(models.listing()) == {"object": "list", "data": []}
    assert models.card("m") is None


def test_names_are_what_instances_list_or_else_what_they_declare() -> None:
    pool = a_pool(
        an_instance("a", port=1, meta={"model": "/weights/m"}),
        an_instance("b", port=2, meta={"models": ["z", "m"]}),
        an_instance("c", port=3),
    )
    pool.members["a"].probed_models = frozenset({"m"})
    assert told_models(pool.members.values()) == ["m", "z"]
    assert told_models(()) == []


def test_names_are_no_more_and_no_longer_than_a_small_message_takes() -> None:
    many = [f"m{n:04}" for n in range(1_000)]
    pool = a_pool(an_instance(meta={"models": [*many, "a" * 513]}))
    assert told_models(pool.members.values()) == many[:MAX_TOLD]
