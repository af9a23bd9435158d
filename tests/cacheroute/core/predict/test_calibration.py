"""Coefficients put together from what was measured and what was known."""

from dataclasses import replace

import pytest

from cacheroute.core.predict.calibrate import CannotFit
from cacheroute.core.predict.calibration import Calibration, calibrate
from cacheroute.core.predict.coefficients import PUBLISHED, Coefficients, parse_coefficients
from cacheroute.core.predict.lessons import KvService
from cacheroute.core.predict.samples import DecodeSample, PrefillSample

PREFILL = [PrefillSample(uncached_tokens=n, ttft_ms=5 + 0.1 * n) for n in range(50, 2050, 100)]
DECODE = [DecodeSample(context_tokens=n, tpot_ms=9 + n / 1000) for n in range(50, 2050, 100)]
KV = [
    KvService(residual_tokens=100, reused_tokens=n, service_ms=15 + 2 + 0.2 * n)
    for n in range(256, 5376, 256)
]


def calibrated(
    prefill: list[list[PrefillSample]] | None = None,
    decode: list[DecodeSample] | None = None,
    kv: list[KvService] | None = None,
    base: Coefficients = PUBLISHED,
) -> Calibration:
    return calibrate(
        prefill=[PREFILL] if prefill is None else prefill,
        decode=DECODE if decode is None else decode,
        kv=KV if kv is None else kv,
        base=base,
        base_name="published",
        of={"when": "today"},
    )


def test_what_was_measured_is_found_again_and_can_be_read_back() -> None:
    found = calibrated()

    coefficients = found.coefficients
    assert coefficients.prefill.predict_ms(1000) == pytest.approx(105)
    assert coefficients.decode.tpot_ms(1000) == pytest.approx(10)
    gb = coefficients.kv.redis_gb(1024)
    assert coefficients.pull.pull_ms(gb) == pytest.approx(2 + 0.2 * 1024)
    assert parse_coefficients(coefficients.as_mapping()) == coefficients
    assert [(part.name, part.fit is not None) for part in found.parts] == [
        ("ttft", True), ("tpot", True), ("redis", True), ("kv", False),
    ]  # fmt: skip


def test_the_document_says_where_each_part_comes_from() -> None:
    fitted = calibrated(decode=[]).coefficients.fitted

    assert fitted["when"] == "today"
    assert fitted["ttft"] == {
        "used": 15, "held_out": 5, "dropped": 0, "p50_ratio": 0.0, "p90_ratio": 0.0,
    }  # fmt: skip
    assert fitted["tpot"] == {
        "kept_from": "published",
        "why": "0 usable measurements; at least 8 needed",
    }


def test_what_cannot_be_fitted_stays_what_the_base_says() -> None:
    facts = {"redis": {"used": 30, "p50_ratio": 0.02}}
    base = replace(PUBLISHED, fitted=facts)
    found = calibrated(decode=DECODE[:3], kv=[], base=base)

    assert found.coefficients.decode == PUBLISHED.decode
    assert found.coefficients.pull == PUBLISHED.pull
    assert found.part("tpot").why_kept == "3 usable measurements; at least 8 needed"
    assert found.part("redis").why_kept == "no measured request loaded KV"
    assert found.coefficients.fitted["redis"] == {
        "used": 30,
        "p50_ratio": 0.02,
        "kept_from": "published",
        "why": "no measured request loaded KV",
    }


def test_without_a_time_to_first_token_there_is_nothing() -> None:
    with pytest.raises(CannotFit, match="3 usable measurements; at least 8 needed"):
        calibrated(prefill=[[], PREFILL[:3]])
    with pytest.raises(CannotFit, match="nothing was measured"):
        calibrated(prefill=[])


def test_the_first_alternative_that_carries_a_fit_is_taken() -> None:
    slower = [replace(sample, ttft_ms=2 * sample.ttft_ms) for sample in PREFILL]

    assert calibrated(prefill=[PREFILL, slower]).coefficients.prefill.predict_ms(
        1000
    ) == pytest.approx(105)
    assert calibrated(prefill=[PREFILL[:3], slower]).coefficients.prefill.predict_ms(
        1000
    ) == pytest.approx(210)


def test_kv_that_took_no_time_to_load_was_not_loaded() -> None:
    there_already = [replace(one, service_ms=14.0) for one in KV]
    found = calibrated(kv=[*there_already, *KV[:9]])

    assert found.part("redis").why_kept == "most of 29 loads of KV took no time"


def test_loads_without_a_pattern_are_not_believed() -> None:
    wild = [replace(one, service_ms=15 + (1.0, 40.0, 900.0)[n % 3]) for n, one in enumerate(KV)]

    found = calibrated(kv=wild)

    why = found.part("redis").why_kept
    assert why is not None
    assert why.startswith("loads of KV follow no line: half of them are off by ")
    assert found.coefficients.pull == PUBLISHED.pull
