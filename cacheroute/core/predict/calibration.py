"""Coefficients put together: what was measured is fitted, what was not is kept as it was.

A forecast without a time to first token is none, so that part must fit. Everything else may
stay what the base says; the document tells which part is which.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cacheroute.core.predict.calibrate import (
    CannotFit,
    Fit,
    fit_decode,
    fit_prefill,
    fit_pull,
)
from cacheroute.core.predict.coefficients import Coefficients, parse_coefficients
from cacheroute.core.predict.lessons import KvService
from cacheroute.core.predict.prefill import PrefillModel
from cacheroute.core.predict.samples import DecodeSample, PrefillSample, PullSample
from cacheroute.core.predict.transfer import KvSize, PullModel

MAX_PULL_ERROR_RATIO = 0.5
"""A pull that is told from a difference of two times is believed up to this median error."""
NOTHING_WEIGHS_KV = "nothing that was measured tells what KV weighs"
_NO_KV = "no measured request loaded KV"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One section of the document: where it comes from."""

    name: str
    """As in the document: `ttft`, `tpot`, `redis` or `kv`."""
    fit: Fit[Any] | None = None
    """What was fitted; None when the base's was kept."""
    why_kept: str | None = None
    """The reason, as a sentence without a capital."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """New coefficients, and where each part of them comes from."""

    coefficients: Coefficients
    parts: tuple[Part, ...]
    """In the order of the document."""

    def part(self, name: str) -> Part:
        """Return the part of this name."""
        return next(part for part in self.parts if part.name == name)


def calibrate(
    *,
    prefill: Sequence[Sequence[PrefillSample]],
    decode: Sequence[DecodeSample],
    kv: Sequence[KvService] = (),
    base: Coefficients,
    base_name: str,
    of: Mapping[str, object],
) -> Calibration:
    """Fit what can be fitted; raises CannotFit when the time to first token cannot.

    `prefill` has alternatives, the best first: the first that carries a fit is taken. `of` says
    what was measured, and when; it stands in the document with the errors.
    """
    ttft = _first_fit(prefill)
    parts = [Part(name="ttft", fit=ttft)]
    decode_model = base.decode
    try:
        tpot = fit_decode(decode)
    except CannotFit as problem:
        parts.append(Part(name="tpot", why_kept=_reason(problem)))
    else:
        decode_model = tpot.model
        parts.append(Part(name="tpot", fit=tpot))
    pull_model = base.pull
    try:
        pull = _pull(kv, ttft.model, base.kv)
    except CannotFit as problem:
        parts.append(Part(name="redis", why_kept=_reason(problem)))
    else:
        pull_model = pull.model
        parts.append(Part(name="redis", fit=pull))
    parts.append(Part(name="kv", why_kept=NOTHING_WEIGHS_KV))
    coefficients = Coefficients(
        prefill=ttft.model,
        decode=decode_model,
        pull=pull_model,
        kv=base.kv,
        fitted={**of, **{part.name: _facts(part, base, base_name) for part in parts}},
    )
    try:
        # What the Proxy would refuse to start with must not be written.
        parse_coefficients(coefficients.as_mapping())
    except ValueError as problem:
        raise CannotFit(str(problem).splitlines()[0]) from problem
    return Calibration(coefficients=coefficients, parts=tuple(parts))


def _first_fit(alternatives: Sequence[Sequence[PrefillSample]]) -> Fit[PrefillModel]:
    problem = CannotFit("prefill: nothing was measured.")
    for samples in alternatives:
        try:
            return fit_prefill(samples)
        except CannotFit as why:
            problem = why
    raise problem


def _pull(kv: Sequence[KvService], prefill: PrefillModel, size: KvSize) -> Fit[PullModel]:
    if not kv:
        raise CannotFit(_NO_KV)
    samples = [
        PullSample(
            gb=size.redis_gb(one.reused_tokens),
            pull_ms=one.service_ms - prefill.predict_ms(one.residual_tokens, one.reused_tokens),
        )
        for one in kv
    ]
    found = fit_pull(samples)
    if found.dropped > found.used + found.held_out:
        raise CannotFit(f"most of {len(samples)} loads of KV took no time")
    if found.p50_ratio > MAX_PULL_ERROR_RATIO:
        raise CannotFit(
            f"loads of KV follow no line: half of them are off by {found.p50_ratio:.0%} or more"
        )
    return found


def _reason(problem: CannotFit) -> str:
    """Write a refusal as a reason: the name of its section stands beside it anyway."""
    text = str(problem).rstrip(".")
    for name in ("decode", "redis"):
        text = text.removeprefix(f"{name}: ")
    return text


def _facts(part: Part, base: Coefficients, base_name: str) -> dict[str, object]:
    fit = part.fit
    if fit is None:
        known = base.fitted.get(part.name)
        earlier = dict(known) if isinstance(known, Mapping) else {}
        return {**earlier, "kept_from": base_name, "why": part.why_kept}
    return {
        "used": fit.used,
        "held_out": fit.held_out,
        "dropped": fit.dropped,
        "p50_ratio": round(fit.p50_ratio, 6),
        "p90_ratio": round(fit.p90_ratio, 6),
    }
