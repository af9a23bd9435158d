import json

from cacheroute.core.model_cards import ModelCards
from cacheroute.planes.models import ModelList


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
