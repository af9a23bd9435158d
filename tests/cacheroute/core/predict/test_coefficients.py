"""The figures that are known, and the document they are kept in."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.coefficients import (
    PUBLISHED,
    REFERENCE,
    REFERENCE_KV,
    Coefficients,
    parse_coefficients,
)
from cacheroute.core.predict.decode import DecodeLine, DecodeModel
from cacheroute.core.predict.prefill import PrefillModel
from cacheroute.core.predict.transfer import KvSize, PullModel

positive = st.floats(1e-9, 1e6)


@given(st.integers(0, 10**6))
def test_one_size_predicts_what_the_two_published_ones_do(tokens: int) -> None:
    """protocol 8, number 35: the time per token was measured, the size of a GB was not."""
    ours, theirs = PUBLISHED, REFERENCE
    assert ours.kv.network_mb_per_token == pytest.approx(1000 * ours.kv.redis_gb_per_token)
    assert ours.kv.network_mb(tokens) == pytest.approx(theirs.kv.network_mb(tokens))
    assert ours.pull.pull_ms(ours.kv.redis_gb(tokens)) == pytest.approx(
        theirs.pull.pull_ms(theirs.kv.redis_gb(tokens))
    )


@pytest.mark.parametrize("coefficients", [PUBLISHED, REFERENCE])
def test_the_known_figures_survive_a_file(coefficients: Coefficients) -> None:
    assert parse_coefficients(json.loads(json.dumps(coefficients.as_mapping()))) == coefficients


@given(
    st.builds(
        Coefficients,
        prefill=st.builds(
            PrefillModel,
            a=positive,
            b=positive,
            c=st.floats(-1, 1),
            d=st.floats(-1, 1),
            attention_s_per_pair=st.just(0.0) | positive,
            floor_ms=st.just(0.0) | positive,
            curve=st.lists(positive, unique=True).map(
                lambda xs: tuple((x, 2.0 * x) for x in sorted(xs))
            ),
        ),
        decode=st.sets(st.integers(1, 99), min_size=1).flatmap(
            lambda sizes: st.builds(
                DecodeModel,
                by_batch=st.just(
                    tuple(DecodeLine(batch=k, slope_s=1e-7, intercept_s=k) for k in sorted(sizes))
                ),
                per_request_s=st.just(0.0) | positive,
            )
        ),
        pull=st.builds(PullModel, a_ms_per_gb=positive, b_ms=st.floats(-9, 9)),
        kv=st.builds(
            KvSize,
            network_mb_per_token=positive,
            redis_gb_per_token=positive,
            align_tokens=st.integers(1, 4096),
        ),
        fitted=st.dictionaries(st.text(), st.integers() | st.text()),
    )
)
def test_what_is_written_is_what_is_read(coefficients: Coefficients) -> None:
    written = json.loads(json.dumps(coefficients.as_mapping()))
    assert written["schema"] == "cacheroute.coefficients/1"
    assert parse_coefficients(written) == coefficients


def published_files() -> dict[str, Any]:
    """Return the published shape of the files, with figures in them."""
    return {
        "ttft": {"a": 1e-3, "b": 0, "c": 0.0, "d": 0.01, "unit": "seconds", "note": "by hand"},
        "tpot": {
            "mode": "per_bs_linear",
            "by_bs": {"8": {"slope": 0, "intercept": 0.03}, "1": {"slope": 0, "intercept": 0.02}},
            "unit": "seconds",
        },
        "redis": {"a": 2764.3, "b": 12.5, "r2": 0.99},
    }


def test_the_published_files_are_read_with_the_published_sizes() -> None:
    read = parse_coefficients(published_files())
    assert read.prefill.predict_ms(90) == pytest.approx(100)
    assert read.decode.tpot_ms(0, batch=8) == pytest.approx(30)
    assert read.pull.pull_ms(1) == pytest.approx(2776.8)
    assert read.kv == REFERENCE_KV


def test_the_older_published_form_of_decode_is_read() -> None:
    read = parse_coefficients(published_files() | {"tpot": {"a": 0.001, "b": 1e-6, "c": 0.02}})
    assert read.decode.tpot_ms(1000, batch=1) == pytest.approx(1 + 1 + 20)
    assert read.decode.tpot_ms(1000, batch=5) == pytest.approx(5 + 1 + 20)


def test_a_refusal_tells_every_problem_and_the_way_out() -> None:
    with pytest.raises(ValueError) as refused:
        parse_coefficients({"redis": {"a": 1}})
    assert str(refused.value).splitlines() == [
        "ttft is missing.",
        "tpot is missing.",
        "redis.b is missing.",
        "`cacheroute calibrate` measures the fleet and writes a document that is whole.",
    ]
