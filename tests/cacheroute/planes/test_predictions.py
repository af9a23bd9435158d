"""How well the fleet is predicted, on a page."""

import json

import pytest

from cacheroute.core.pool_member import Member
from cacheroute.core.predict.coefficients import PUBLISHED, parse_coefficients
from cacheroute.core.predict.errors import PredictionErrors
from cacheroute.planes.predictions import CORRECTIONS, errors_row, predictions_page, take
from cacheroute.runtime.forecasts import Forecasts
from cacheroute.wire.debug import PredictionErrorsRow, PredictionsReply
from tests.cacheroute.core.pool_builders import an_instance


def page_of(forecasts: Forecasts) -> PredictionsReply:
    page = predictions_page(take(forecasts, 1.7e9))
    return PredictionsReply.model_validate(json.loads(json.dumps(page)))


def test_before_anything_was_predicted_errors_are_unknown_and_nobody_is_listed() -> None:
    page = page_of(Forecasts(PUBLISHED, 0))
    assert page.errors == PredictionErrorsRow(count=0, window=0, p50_ratio=None, p90_ratio=None)
    assert page.instances == []
    assert page.generated_at == 1.7e9


def test_each_instance_has_its_errors_and_all_together_have_theirs() -> None:
    forecasts = Forecasts(PUBLISHED, 0)
    one, two = Member(an_instance("one")), Member(an_instance("two"))
    for percent in range(1, 11):
        forecasts.saw_ttft(one, 100.0 + percent, 100.0)
    forecasts.saw_ttft(two, 300.0, 100.0)
    page = page_of(forecasts)
    rows = {row.instance_id: row.errors for row in page.instances}
    assert rows["one"].p50_ratio == pytest.approx(0.05)
    assert rows["one"].p90_ratio == pytest.approx(0.09)
    assert (rows["two"].count, rows["two"].p50_ratio) == (1, 2.0)
    assert (page.errors.count, page.errors.window) == (11, 11)
    assert page.errors.p50_ratio == pytest.approx(0.06)


def test_what_was_learned_is_told_with_how_often_it_was_seen() -> None:
    forecasts = Forecasts(PUBLISHED, 0)
    member = Member(an_instance())
    forecasts.saw_transfer(member, 100.0, 200.0)
    forecasts.saw_answer(member, tokens=228, decode_ms=None, model_tpot_ms=20.0)
    (row,) = page_of(forecasts).instances
    assert set(row.corrections) == set(CORRECTIONS)
    assert row.corrections["transfer"].factor == pytest.approx(2.0)
    assert row.corrections["transfer"].count == 1
    assert (row.corrections["decode"].factor, row.corrections["decode"].count) == (1.0, 0)
    assert row.answer_tokens == pytest.approx(138.0)


def test_the_published_coefficients_are_told_without_their_curve() -> None:
    page = page_of(Forecasts(PUBLISHED, 0))
    assert (page.source, page.fitted) == ("published", {})
    assert set(page.coefficients) == {"schema", "ttft", "tpot", "redis", "kv"}
    ttft = page.coefficients["ttft"]
    assert isinstance(ttft, dict)
    assert ttft["a"] == PUBLISHED.prefill.a
    assert "curve" not in ttft


def test_coefficients_of_ones_own_come_with_their_facts() -> None:
    facts = {"at": "2026-08-01T00:00:00Z", "samples": 40}
    own = parse_coefficients({**PUBLISHED.as_mapping(), "fitted": facts})
    page = page_of(Forecasts(own, 0))
    assert (page.source, page.fitted) == ("document", facts)


def test_what_was_taken_stays_as_it_was() -> None:
    forecasts = Forecasts(PUBLISHED, 0)
    member = Member(an_instance())
    forecasts.saw_ttft(member, 110.0, 100.0)
    taken = take(forecasts, 0.0)
    forecasts.saw_ttft(member, 900.0, 100.0)
    forecasts.forget(member)
    errors = PredictionsReply.model_validate(predictions_page(taken)).errors
    assert errors.count == 1
    assert errors.p90_ratio == pytest.approx(0.1)


def test_of_a_window_that_was_left_the_count_goes_on() -> None:
    errors = PredictionErrors(window=2)
    for _ in range(5):
        errors.add(110.0, 100.0)
    row = PredictionErrorsRow.model_validate(errors_row(errors))
    assert (row.count, row.window) == (5, 2)
