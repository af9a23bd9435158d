import pytest

from cacheroute.demo.scheduler.knowledge import NOTHING, Library, NoKnowledgeNode
from tests.cacheroute.demo.scheduler.parts import KDN, OTHER_KDN, a_library, asked, user

CACHE = "The KV cache keeps keys and values."
BREAD = "Bread is baked before dawn."


def rag(text: str, **fields: object) -> dict[str, object]:
    return {"messages": [user(text)], "RAG": True, **fields}


def test_without_rag_nothing_is_looked_for() -> None:
    assert a_library({"a": CACHE}).find(asked(messages=[user("KV cache?")])) == NOTHING
    assert Library((), 1).find(asked()) == NOTHING


def test_the_best_text_is_found_with_its_tokens_and_its_node() -> None:
    found = a_library({"a": CACHE, "b": BREAD}).find(asked(**rag("What does a KV cache keep?")))

    assert (found.ids, found.kdn_address) == (("a",), "127.0.0.1:9101")
    assert found.tokens == (len(CACHE) + 3) // 4


def test_as_many_as_wanted_are_found_all_at_one_node() -> None:
    library = a_library({"a": CACHE, "b": "A cache of bread."}, {"c": "A cache."}, top_k=3)

    found = library.find(asked(**rag("cache")))

    assert (found.ids, found.kdn_address) == (("a", "b"), KDN.authority)


def test_the_node_with_the_better_match_is_named() -> None:
    found = a_library({"b": BREAD}, {"a": CACHE}).find(asked(**rag("KV cache")))

    assert (found.ids, found.kdn_address) == (("a",), OTHER_KDN.authority)


def test_when_two_nodes_hold_the_same_the_first_is_named() -> None:
    found = a_library({"a": CACHE}, {"a": CACHE}).find(asked(**rag("KV cache")))

    assert found.kdn_address == KDN.authority


def test_when_nothing_fits_nothing_is_sent_along() -> None:
    assert a_library({"a": CACHE}).find(asked(**rag("Who won?"))) == NOTHING


def test_named_ids_are_taken_as_they_are() -> None:
    library = a_library({"b": BREAD}, {"a": CACHE})

    found = library.find(asked(**rag("x", knowledge_ids=["A", "new"])))

    assert (found.ids, found.kdn_address) == (("a", "new"), OTHER_KDN.authority)
    assert found.tokens == (len(CACHE) + 3) // 4


def test_ids_that_nobody_has_shown_are_asked_of_the_first_node() -> None:
    found = Library((KDN, OTHER_KDN), 1).find(asked(knowledge_ids=["a"]))

    assert (found.ids, found.tokens, found.kdn_address) == (("a",), 0, KDN.authority)


def test_without_a_node_rag_is_refused_in_words() -> None:
    with pytest.raises(NoKnowledgeNode) as raised:
        Library((), 1).find(asked(RAG=True))

    assert raised.value.status == 503
    assert "--kdn HOST:PORT" in raised.value.message
    assert raised.value.retry_after_s is None


def test_before_the_first_reading_asking_again_can_help() -> None:
    with pytest.raises(NoKnowledgeNode) as raised:
        Library((KDN,), 1).find(asked(RAG=True))

    assert "(127.0.0.1:9101)" in raised.value.message
    assert raised.value.retry_after_s == 1.0
