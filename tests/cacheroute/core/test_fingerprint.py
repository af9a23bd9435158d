"""The capability digest, against the published vector."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.fingerprint import capability_fingerprint

LLAMA = "/workspace/llm-stack/models/LLM-Research/Meta-Llama-3-70B-Instruct"


def capabilities(**given: object) -> dict[str, object]:
    """A capability object with every key, as it is stored."""
    return {
        "schema_version": "1",
        "model": {"identifier": LLAMA, "revision": None},
        "tokenizer": {"identifier": LLAMA, "revision": None},
        "adapters": [],
        "kv_cache": {
            "layout": None,
            "schema_version": None,
            "dtype": None,
            "block_size": None,
            "layout_parameters": {},
        },
        "parallelism": {
            "tensor_parallel_size": None,
            "pipeline_parallel_size": None,
            "data_parallel_size": None,
        },
        "runtime": {
            "vllm_version": None,
            "lmcache_version": None,
            "supported_cache_features": [],
        },
        **given,
    }


def test_the_published_vector_comes_out() -> None:
    assert capability_fingerprint(capabilities()) == (
        "sha256:0dd647fc99fad67617d1255dcf5936b043bc899052754d725bcb21ada25fadc0"
    )


def test_a_set_of_features_has_no_order_and_no_repetitions() -> None:
    one = capabilities(runtime={"supported_cache_features": ["b", "a", "b"]})
    other = capabilities(runtime={"supported_cache_features": ["a", "b"]})
    assert capability_fingerprint(one) == capability_fingerprint(other)


def test_the_order_of_adapters_counts() -> None:
    one = capabilities(adapters=[{"identifier": "a"}, {"identifier": "b"}])
    other = capabilities(adapters=[{"identifier": "b"}, {"identifier": "a"}])
    assert capability_fingerprint(one) != capability_fingerprint(other)


def test_nulls_are_dropped_at_every_depth() -> None:
    one = capabilities(
        adapters=[{"identifier": "a", "configuration": {"x": None, "y": {"z": None}}}]
    )
    other = capabilities(adapters=[{"identifier": "a", "configuration": {"y": {}}}])
    assert capability_fingerprint(one) == capability_fingerprint(other)


def test_letters_beyond_ascii_are_hashed_as_utf8() -> None:
    # sha256 of {"model":{"identifier":"模型"}} in UTF-8, from sha256sum.
    digest = capability_fingerprint({"model": {"identifier": "模型"}})
    assert digest == "sha256:d25a56ccafa660272b34ecef284c2d01bfc91de3f62623c21062b6651f3391cf"


def test_a_number_that_is_not_finite_has_no_fingerprint() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        capability_fingerprint({"kv_cache": {"layout_parameters": {"x": float("nan")}}})


@given(st.permutations(["schema_version", "model", "adapters", "runtime"]))
def test_the_order_of_keys_does_not_count(order: list[str]) -> None:
    whole = capabilities()
    shuffled = {key: whole[key] for key in order} | whole
    assert capability_fingerprint(shuffled) == capability_fingerprint(whole)
