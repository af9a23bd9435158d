"""Models fitted to measurements."""

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.calibrate import (
    MAX_BATCHES,
    CannotFit,
    fit_decode,
    fit_prefill,
    fit_pull,
)
from cacheroute.core.predict.coefficients import PUBLISHED, REFERENCE, REFERENCE_PULL
from cacheroute.core.predict.prefill import PrefillModel, attention_pairs
from cacheroute.core.predict.samples import DecodeSample, PrefillSample, PullSample

LENGTHS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)


def prefills(model: Callable[[float], float]) -> list[PrefillSample]:
    return [PrefillSample(uncached_tokens=n, ttft_ms=model(n)) for n in LENGTHS]


@given(st.floats(1e-6, 1e-2), st.floats(1e-4, 1.0))
def test_an_exact_line_is_found_again(per_token_s: float, always_s: float) -> None:
    found = fit_prefill(prefills(lambda n: (per_token_s * n + always_s) * 1e3))
    assert found.model.b == pytest.approx(per_token_s, rel=1e-6)
    assert found.model.d == pytest.approx(always_s, rel=1e-6)
    assert found.p90_ratio < 1e-6


def test_the_published_coefficients_are_found_from_what_they_predict() -> None:
    published = REFERENCE.prefill
    found = fit_prefill(
        [
            PrefillSample(uncached_tokens=n, batch=k, ttft_ms=published.predict_ms(n, batch=k))
            for n in range(400, 3800, 100)
            for k in (1, 2, 3, 4)
        ]
    ).model
    for name in "abcd":
        assert getattr(found, name) == pytest.approx(getattr(published, name), rel=1e-6)
    assert found.curve == ()
    assert 0 < found.predict_ms(1) < found.predict_ms(400)


def test_attention_is_modelled_where_it_shows() -> None:
    def ttft_ms(tokens: int, context: int) -> float:
        return 5 + 0.03 * tokens + 1e-5 * attention_pairs(tokens, context)

    found = fit_prefill(
        [
            PrefillSample(uncached_tokens=n, context_tokens=c, ttft_ms=ttft_ms(n, c))
            for n in LENGTHS
            for c in (0, 1000, 9000)
        ]
    ).model
    assert found.attention_s_per_pair == pytest.approx(1e-8, rel=1e-3)
    assert found.predict_ms(3000, 5000) == pytest.approx(ttft_ms(3000, 5000), rel=1e-3)


def test_a_slow_answer_now_and_then_does_not_tilt_the_line() -> None:
    samples = [
        PrefillSample(uncached_tokens=n, ttft_ms=(10 + 0.1 * n) * (1 + 0.01 * (n % 3)))
        for n in range(100, 4100, 100)
    ]
    samples[7] = PrefillSample(uncached_tokens=800, ttft_ms=9000)
    found = fit_prefill(samples)
    assert found.model.predict_ms(2000) == pytest.approx(210, rel=0.03)
    assert found.p50_ratio < 0.02


def test_the_errors_are_of_what_was_held_out() -> None:
    found = fit_prefill(prefills(lambda n: 10 + n * (1.2 if n == 256 else 1.0)))
    assert (found.used, found.held_out, found.dropped) == (6, 2, 0)
    assert found.p50_ratio < 1e-6
    assert found.p90_ratio == pytest.approx(0.16, abs=0.01)


def test_measurements_that_make_no_sense_are_dropped_and_counted() -> None:
    bad = [math.nan, math.inf, 0.0, -1.0]
    samples = prefills(lambda n: 10.0 + n)
    samples += [PrefillSample(uncached_tokens=100, ttft_ms=value) for value in bad]
    samples += [PrefillSample(uncached_tokens=value, ttft_ms=9.0) for value in bad]
    samples += [PrefillSample(uncached_tokens=9, context_tokens=math.nan, ttft_ms=9.0)]
    found = fit_prefill(samples)
    assert found.dropped == 9
    assert found.model.predict_ms(100) == pytest.approx(110)


def test_longer_prompts_that_were_not_slower_are_refused() -> None:
    with pytest.raises(CannotFit, match=r"^prefill: longer prompts did not take longer"):
        fit_prefill(prefills(lambda n: 1e4 / n))


def test_lines_of_decode_share_a_slope_and_have_an_intercept_each() -> None:
    model = PUBLISHED.decode
    found = fit_decode(
        [
            DecodeSample(context_tokens=n, batch=k, tpot_ms=model.tpot_ms(n, batch=k))
            for n in LENGTHS
            for k in (1, 4, 7)
        ]
    )
    assert [line.batch for line in found.model.by_batch] == [1, 4, 7]
    for batch in (1, 2, 4, 7):
        assert found.model.tpot_ms(500, batch=batch) == pytest.approx(
            model.tpot_ms(500, batch=batch)
        )


def test_decode_at_one_context_is_a_level() -> None:
    found = fit_decode([DecodeSample(context_tokens=100, tpot_ms=20.0)] * 8)
    [line] = found.model.by_batch
    assert line.intercept_s + 100 * line.slope_s == pytest.approx(0.020)


def test_a_pull_is_found_again() -> None:
    samples = [PullSample(gb=g / 50, pull_ms=REFERENCE_PULL.pull_ms(g / 50)) for g in range(1, 20)]
    found = fit_pull(samples).model
    assert found.a_ms_per_gb == pytest.approx(REFERENCE_PULL.a_ms_per_gb)
    assert found.b_ms == pytest.approx(REFERENCE_PULL.b_ms)


FITS: list[tuple[str, Callable[[Sequence[float]], object]]] = [
    ("prefill", lambda xs: fit_prefill([PrefillSample(uncached_tokens=x, ttft_ms=9) for x in xs])),
    ("decode", lambda xs: fit_decode([DecodeSample(context_tokens=x, tpot_ms=9) for x in xs])),
    ("redis", lambda xs: fit_pull([PullSample(gb=x, pull_ms=9) for x in xs])),
]


@pytest.mark.parametrize(("what", "fitting"), FITS)
def test_too_few_measurements_are_refused(
    what: str, fitting: Callable[[Sequence[float]], object]
) -> None:
    with pytest.raises(CannotFit, match=rf"^{what}: 7 usable measurements; at least 8 needed\.$"):
        fitting([1, 2, 3, 4, 5, 6, 7])
    with pytest.raises(CannotFit, match=rf"^{what}: 0 usable"):
        fitting([])


@pytest.mark.parametrize(("what", "fitting"), [FITS[0], FITS[2]])
def test_measurements_of_one_size_are_refused(
    what: str, fitting: Callable[[Sequence[float]], object]
) -> None:
    with pytest.raises(CannotFit, match=rf"^{what}: all measurements are of 100 to 190 "):
        fitting([100, 110, 120, 130, 140, 150, 160, 190])


def test_more_batch_sizes_than_can_be_told_apart_are_refused() -> None:
    samples = [
        DecodeSample(context_tokens=10, batch=k, tpot_ms=9) for k in range(1, 2 * MAX_BATCHES)
    ]
    with pytest.raises(CannotFit, match=r"different batch sizes"):
        fit_decode(samples)


@given(
    st.lists(
        st.tuples(st.integers(1, 10**5), st.floats(0.1, 1e5)), min_size=12, max_size=40
    ).filter(lambda rows: max(r[0] for r in rows) >= 2 * min(r[0] for r in rows)),
    st.integers(0, 10**5),
    st.integers(0, 10**5),
)
def test_whatever_was_measured_a_longer_prompt_is_not_faster(
    rows: list[tuple[int, float]], less: int, more: int
) -> None:
    try:
        model: PrefillModel = fit_prefill(
            [PrefillSample(uncached_tokens=n, ttft_ms=ms) for n, ms in rows]
        ).model
    except CannotFit:
        return
    less, more = sorted((less, more))
    assert 0 <= model.predict_ms(less) <= model.predict_ms(more)
