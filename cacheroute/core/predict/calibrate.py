"""Models fitted to measurements, and how well they do on those they have not seen.

A quarter of the measurements, spread over all sizes, is held out: the errors of a fit are
of these alone. Measurements that cannot carry a fit are refused with the reason.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cacheroute.core.predict.decode import DecodeLine, DecodeModel
from cacheroute.core.predict.errors import error_ratio, quantile
from cacheroute.core.predict.least_squares import fit
from cacheroute.core.predict.prefill import PrefillModel, attention_pairs
from cacheroute.core.predict.samples import DecodeSample, PrefillSample, PullSample
from cacheroute.core.predict.transfer import PullModel

MIN_SAMPLES = 8
MIN_SPREAD = 2.0
"""The largest size must be at least so many times the smallest, or a slope is a guess."""
MAX_BATCHES = 64
ATTENTION_GAIN = 0.8
"""Attention is modelled when the median error of the fit falls to this share by it."""

SHORT_TOKENS = 128
"""What counts as a short prompt where none was measured."""
EXACT = 1e-6
"""A median error that needs no improvement."""

Model = TypeVar("Model")
Sample = TypeVar("Sample")


class CannotFit(ValueError):
    """The measurements do not carry a fit; the message says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit(Generic[Model]):
    """A fitted model and its errors on the measurements that were held out."""

    model: Model
    used: int
    """Measurements it was fitted to."""
    held_out: int
    """Measurements its errors are of."""
    dropped: int
    """Measurements that made no sense: not finite, or not positive."""
    p50_ratio: float
    """Median of |predicted - actual| / actual."""
    p90_ratio: float
    """What nine in ten of these errors do not exceed."""


def fit_prefill(samples: Sequence[PrefillSample]) -> Fit[PrefillModel]:
    """Fit time to first token; raises CannotFit.

    With one batch size throughout, `a` and `c` cannot be told from `b` and `d` and are 0.
    """
    good = [
        s
        for s in samples
        if _makes_sense(s.ttft_ms, s.uncached_tokens, s.batch, s.context_tokens + 1)
    ]
    good.sort(key=lambda s: (s.uncached_tokens, s.context_tokens))
    _check("prefill", good, [s.uncached_tokens for s in good], "tokens")
    train, held_out = _split(good)
    plain = _prefill(train, with_attention=False)
    full = _prefill(train, with_attention=True)
    errors = [_errors(train, _prefill_errors(model)) for model in (plain, full)]
    is_better = errors[1][0] < ATTENTION_GAIN * errors[0][0] and errors[0][0] > EXACT
    model = full if is_better else plain
    if not (model.a or model.b or model.attention_s_per_pair):
        raise CannotFit("prefill: longer prompts did not take longer; was the Instance idle?")
    return _fit(model, train, held_out, len(samples), _prefill_errors(model))


def fit_decode(samples: Sequence[DecodeSample]) -> Fit[DecodeModel]:
    """Fit time per output token, one slope for all batch sizes; raises CannotFit.

    Where all contexts are of one length the slope is 0, which it nearly is anyway.
    """
    good = [s for s in samples if _makes_sense(s.tpot_ms, s.context_tokens, s.batch)]
    good.sort(key=lambda s: (s.batch, s.context_tokens))
    _check("decode", good, None, "tokens")
    train, held_out = _split(good)
    batches = sorted({s.batch for s in train})
    if len(batches) > MAX_BATCHES:
        raise CannotFit(
            f"decode: {len(batches)} different batch sizes; at most {MAX_BATCHES} can be told "
            "apart, so put neighbours together."
        )
    columns = [[float(s.batch == batch) for s in train] for batch in batches]
    columns.append([s.context_tokens for s in train])
    found = fit(columns, [s.tpot_ms / 1e3 for s in train], range(len(columns)))
    *intercepts, slope = found
    lines = (
        DecodeLine(batch=batch, slope_s=slope, intercept_s=intercept)
        for batch, intercept in zip(batches, intercepts, strict=True)
    )
    model = DecodeModel(by_batch=tuple(lines))
    return _fit(
        model,
        train,
        held_out,
        len(samples),
        lambda s: (model.tpot_ms(s.context_tokens, batch=s.batch), s.tpot_ms),
    )


def fit_pull(samples: Sequence[PullSample]) -> Fit[PullModel]:
    """Fit the loading of KV; raises CannotFit."""
    good = [s for s in samples if _makes_sense(s.pull_ms, s.gb)]
    good.sort(key=lambda s: s.gb)
    _check("redis", good, [s.gb for s in good], "GB")
    train, held_out = _split(good)
    columns = [[s.gb for s in train], [1.0] * len(train)]
    a, b = fit(columns, [s.pull_ms for s in train], (0, 1))
    model = PullModel(a_ms_per_gb=a, b_ms=b)
    return _fit(model, train, held_out, len(samples), lambda s: (model.pull_ms(s.gb), s.pull_ms))


def _prefill(samples: Sequence[PrefillSample], *, with_attention: bool) -> PrefillModel:
    columns = [
        [s.uncached_tokens for s in samples],
        [1.0] * len(samples),
        [float(s.batch) for s in samples],
        [s.batch * s.uncached_tokens for s in samples],
    ]
    if with_attention:
        columns.append([attention_pairs(s.uncached_tokens, s.context_tokens) for s in samples])
    measured_s = [s.ttft_ms / 1e3 for s in samples]
    b, d, c, a, *attention = fit(columns, measured_s, {0, 3, 4} & set(range(len(columns))))
    return PrefillModel(
        a=a,
        b=b,
        c=c,
        d=d,
        attention_s_per_pair=attention[0] if attention else 0.0,
        floor_ms=_floor_ms(samples) if c + d < 0 else 0.0,
    )


def _floor_ms(samples: Sequence[PrefillSample]) -> float:
    """Return what the shortest prompts will take, where the line would say nothing at all."""
    fastest = min(samples, key=lambda s: s.ttft_ms)
    return fastest.ttft_ms * min(1.0, SHORT_TOKENS / fastest.uncached_tokens)


def _prefill_errors(model: PrefillModel) -> Callable[[PrefillSample], tuple[float, float]]:
    return lambda s: (
        model.predict_ms(s.uncached_tokens, s.context_tokens, batch=s.batch),
        s.ttft_ms,
    )


def _makes_sense(measured: float, *sizes: float) -> bool:
    return all(0 < value < float("inf") for value in (measured, *sizes))


def _check(what: str, good: Sequence[object], sizes: Sequence[float] | None, unit: str) -> None:
    if len(good) < MIN_SAMPLES:
        raise CannotFit(f"{what}: {len(good)} usable measurements; at least {MIN_SAMPLES} needed.")
    if sizes is not None and sizes[-1] < MIN_SPREAD * sizes[0]:
        raise CannotFit(
            f"{what}: all measurements are of {sizes[0]:g} to {sizes[-1]:g} {unit}; the largest "
            f"must be at least {MIN_SPREAD:g} times the smallest."
        )


def _split(ordered: Sequence[Sample]) -> tuple[list[Sample], list[Sample]]:
    """Hold every fourth out, never the smallest or the largest."""
    held_out = list(ordered[2:-1:4])
    train = [sample for index, sample in enumerate(ordered[:-1]) if index % 4 != 2]
    return [*train, ordered[-1]], held_out


def _errors(
    samples: Sequence[Sample], predict: Callable[[Sample], tuple[float, float]]
) -> tuple[float, float]:
    ratios = [ratio for s in samples if (ratio := error_ratio(*predict(s))) is not None]
    p50, p90 = quantile(ratios, 0.5), quantile(ratios, 0.9)
    if p50 is None or p90 is None:
        raise CannotFit("The fitted model predicts nothing that is a number.")
    return p50, p90


def _fit(
    model: Model,
    train: Sequence[Sample],
    held_out: Sequence[Sample],
    given: int,
    predict: Callable[[Sample], tuple[float, float]],
) -> Fit[Model]:
    p50, p90 = _errors(held_out, predict)
    return Fit(
        model=model,
        used=len(train),
        held_out=len(held_out),
        dropped=given - len(train) - len(held_out),
        p50_ratio=p50,
        p90_ratio=p90,
    )
