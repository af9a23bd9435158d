"""`/v1/embeddings` and `/v1/rerank`: prompts are read, nothing is written.

Vectors and scores follow from the text alone: equal texts are equal, and a document that
shares words with the query ranks higher.
"""

import base64
import math
import re
import struct
from typing import Any

import xxhash

from cacheroute.demo import tokens
from cacheroute.demo.params import Body, Params, ServedModel, check_model
from cacheroute.demo.refusal import Refusal, bad_value, missing, prompt_too_long, wrong_type
from cacheroute.demo.reply import Ask, Choice, Reply
from cacheroute.demo.shapes.completions import prompt_streams
from cacheroute.demo.shapes.shape import encode

_DIMENSIONS = 64
_DIMENSIONS_MAX = 4096
_INPUTS_MAX = 2048


def read_embeddings(body: Body, model: ServedModel) -> Ask:
    """Understand an embedding request; raises Refusal."""
    check_model(body, model)
    if body.get("encoding_format") not in (None, "float", "base64"):
        raise bad_value(
            "encoding_format", body["encoding_format"], "encoding_format must be float or base64."
        )
    dimensions = body.get("dimensions")
    if dimensions is not None and (
        type(dimensions) is not int or not 1 <= dimensions <= _DIMENSIONS_MAX
    ):
        raise bad_value(
            "dimensions", dimensions, f"dimensions must be between 1 and {_DIMENSIONS_MAX}."
        )
    return _ask(prompt_streams(body, "input"), body, model, "input")


def read_rerank(body: Body, model: ServedModel) -> Ask:
    """Understand a rerank request; raises Refusal."""
    check_model(body, model)
    query, documents = body.get("query"), body.get("documents")
    for name, value in (("query", query), ("documents", documents)):
        if value is None:
            raise missing(name, body)
    if not isinstance(query, str):
        raise wrong_type("query", query, "string")
    if not isinstance(documents, list) or not documents:
        raise wrong_type("documents", documents, "list")
    head = tokens.encode(query) + tokens.SEPARATOR
    return _ask(
        [head + tokens.encode(_words_of(one)) for one in documents], body, model, "documents"
    )


def _ask(prompts: list[bytes], body: Body, model: ServedModel, name: str) -> Ask:
    if len(prompts) > _INPUTS_MAX:
        raise Refusal(
            400,
            f"A request may have at most {_INPUTS_MAX} {name}, not {len(prompts)}.",
            param=name,
        )
    for prompt in prompts:
        if tokens.count(prompt) > model.max_model_tokens:
            raise prompt_too_long(model.max_model_tokens)
    return Ask(params=Params(), prompts=tuple(prompts), answers=(), body=body)


def _words_of(document: object) -> str:
    text = document.get("text") if isinstance(document, dict) else document
    if not isinstance(text, str):
        raise wrong_type("documents", document, "string")
    return text


class PoolingShape:
    """What both endpoints have in common: there is never a stream."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    def opening(self) -> bytes:
        """Return nothing."""
        return b""

    def piece(self, choice: Choice) -> bytes:  # noqa: ARG002
        """Return nothing."""
        return b""

    def closing(self) -> bytes:
        """Return nothing."""
        return b""

    def failure(self, refusal: Refusal) -> bytes:
        """Return the error object."""
        return refusal.body


class EmbeddingsShape(PoolingShape):
    """A vector of length 1 for each input."""

    def whole(self) -> bytes:
        """Return the vectors as one object."""
        reply = self._reply
        body = reply.ask.body
        dimensions = body.get("dimensions") or _DIMENSIONS
        packed = body.get("encoding_format") == "base64"
        data = []
        for number, prompt in enumerate(reply.ask.prompts):
            vector = _vector(prompt, dimensions)
            shown: Any = vector
            if packed:
                shown = base64.b64encode(struct.pack(f"<{dimensions}f", *vector)).decode()
            data.append({"index": number, "object": "embedding", "embedding": shown})
        return encode(
            {
                "id": reply.id,
                "object": "list",
                "created": reply.created_at_s,
                "model": reply.model,
                "data": data,
                "usage": {
                    "prompt_tokens": reply.prompt_tokens,
                    "total_tokens": reply.prompt_tokens,
                    "completion_tokens": 0,
                    "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
                },
            }
        )


class RerankShape(PoolingShape):
    """The documents, best first."""

    def whole(self) -> bytes:
        """Return the ranking as one object."""
        reply = self._reply
        body = reply.ask.body
        documents = [_words_of(document) for document in body["documents"]]
        scores = [_relevance(body["query"], document) for document in documents]
        order = sorted(range(len(scores)), key=lambda number: -scores[number])
        results = [
            {
                "index": number,
                "document": {"text": documents[number], "multi_modal": None},
                "relevance_score": scores[number],
            }
            for number in order
        ]
        top_n = body.get("top_n")
        if type(top_n) is int and top_n > 0:
            results = results[:top_n]
        return encode(
            {
                "id": reply.id,
                "model": reply.model,
                "usage": {
                    "prompt_tokens": reply.prompt_tokens,
                    "total_tokens": reply.prompt_tokens,
                },
                "results": results,
            }
        )


def _vector(prompt: bytes, dimensions: int) -> list[float]:
    raw = b"".join(
        xxhash.xxh3_128_digest(prompt, seed) for seed in range(-(-dimensions // 4))
    )  # fmt: skip
    values = [value / 2**31 for value in struct.unpack(f">{dimensions}i", raw[: 4 * dimensions])]
    length = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / length for value in values]


def _relevance(query: str, document: str) -> float:
    wanted = set(re.findall(r"\w+", query.lower()))
    found = wanted & set(re.findall(r"\w+", document.lower()))
    close = xxhash.xxh3_64_intdigest(document.encode("utf-8", "surrogatepass")) % 1000 / 10_000
    return round(0.9 * len(found) / len(wanted) + close, 4) if wanted else close
