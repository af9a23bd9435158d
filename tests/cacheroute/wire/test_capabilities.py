"""The capability object."""

import pytest
from pydantic import ValidationError

from cacheroute.core.fingerprint import capability_fingerprint
from cacheroute.wire.capabilities import Capabilities
from tests.cacheroute.core.test_fingerprint import capabilities


def test_the_empty_object_has_all_seven_keys_and_every_null() -> None:
    assert Capabilities().as_stored() == capabilities(
        model={"identifier": None, "revision": None},
        tokenizer={"identifier": None, "revision": None},
    )


def test_a_null_means_the_same_as_leaving_the_key_out() -> None:
    nulls = {"model": None, "adapters": None, "kv_cache": {"layout_parameters": None}}
    assert Capabilities.model_validate(nulls) == Capabilities()


def test_what_is_stored_makes_the_published_fingerprint() -> None:
    identity = {"identifier": "/workspace/llm-stack/models/LLM-Research/Meta-Llama-3-70B-Instruct"}
    stored = Capabilities.model_validate({"model": identity, "tokenizer": identity}).as_stored()
    assert capability_fingerprint(stored) == (
        "sha256:0dd647fc99fad67617d1255dcf5936b043bc899052754d725bcb21ada25fadc0"
    )


@pytest.mark.parametrize(
    "given",
    [
        {"extra": 1},
        {"model": {"extra": 1}},
        {"model": "llama"},
        {"schema_version": "2"},
        {"adapters": [{}]},
        {"adapters": [{"identifier": "a", "configuration": {"x": float("nan")}}]},
        {"kv_cache": {"block_size": 0}},
        {"kv_cache": {"block_size": True}},
        {"parallelism": {"tensor_parallel_size": -1}},
        {"runtime": {"supported_cache_features": "prefix"}},
    ],
)
def test_what_both_sides_could_not_digest_alike_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Capabilities.model_validate(given)
