import base64
import math
import struct
from typing import Any

import pytest

from cacheroute.demo.refusal import Refusal, engine_died
from cacheroute.demo.shapes.pooling import (
    EmbeddingsShape,
    PoolingShape,
    RerankShape,
    read_embeddings,
    read_rerank,
)
from tests.cacheroute.demo.shapes.draw import MODEL, make, whole


def vectors(**body: Any) -> list[Any]:
    answer = whole(read_embeddings, EmbeddingsShape, body)
    return [row["embedding"] for row in answer["data"]]


def test_equal_texts_have_equal_vectors_of_length_one() -> None:
    a, b, c = vectors(input=["one", "one", "two"])
    assert a == b != c
    assert math.hypot(*a) == pytest.approx(1.0)


def test_dimensions_are_as_many_as_asked_for() -> None:
    assert [len(vector) for vector in vectors(input="x", dimensions=10)] == [10]


def test_base64_is_the_same_vector_in_little_endian_floats() -> None:
    (packed,) = vectors(input="x", encoding_format="base64")
    (plain,) = vectors(input="x")
    assert struct.unpack("<64f", base64.b64decode(packed)) == pytest.approx(plain, abs=1e-6)


def test_documents_that_share_words_with_the_query_come_first() -> None:
    body = {"query": "red apples", "documents": ["a blue car", {"text": "red apples"}, "an apple"]}
    answer = whole(read_rerank, RerankShape, body)
    assert answer["results"][0]["index"] == 1
    assert answer["results"][0]["document"]["text"] == "red apples"
    scores = [row["relevance_score"] for row in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_top_n_bounds_the_ranking() -> None:
    body = {"query": "a", "documents": ["a", "b", "c"], "top_n": 2}
    assert len(whole(read_rerank, RerankShape, body)["results"]) == 2


def test_there_is_never_a_stream() -> None:
    shape = PoolingShape(make(read_embeddings, {"input": "x"}))
    assert (shape.opening(), shape.closing()) == (b"", b"")
    assert shape.failure(engine_died()) == engine_died().body


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": []},
        {"input": 5},
        {"input": "x", "encoding_format": "hex"},
        {"input": "x", "dimensions": 0},
        {"input": "x", "dimensions": True},
        {"input": ["x"] * 2049},
        {"input": "x" * 40_000},
        {"input": "x", "model": "nope"},
    ],
)
def test_what_is_no_embedding_request_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        read_embeddings(body, MODEL)


@pytest.mark.parametrize(
    "body",
    [
        {"documents": ["a"]},
        {"query": "a"},
        {"query": 1, "documents": ["a"]},
        {"query": "a", "documents": []},
        {"query": "a", "documents": [5]},
    ],
)
def test_what_is_no_rerank_request_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        read_rerank(body, MODEL)
