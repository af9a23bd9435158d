import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cacheroute.core.injection.injection_builders import some_terms

ms = st.floats(0, 1e6)


@given(ms, ms, ms, ms)
def test_kv_wins_exactly_by_the_published_inequality(
    kv: float, penalty: float, margin: float, text: float
) -> None:
    terms = some_terms(
        kv_total_ms=kv, kdn_queue_penalty_ms=penalty, margin_ms=margin, text_total_ms=text
    )
    assert terms.kv_wins is (kv + penalty + margin < text)


def test_what_others_wait_longer_counts_for_the_other_way() -> None:
    draw = {"kv_total_ms": 400, "margin_ms": 100, "text_total_ms": 500}
    assert some_terms(**draw, text_delay_ms=1).kv_wins
    assert not some_terms(**draw, text_delay_ms=1, kv_delay_ms=1).kv_wins


def test_a_draw_is_text() -> None:
    assert not some_terms(kv_total_ms=400, margin_ms=100, text_total_ms=500).kv_wins
    assert some_terms(kv_total_ms=399, margin_ms=100, text_total_ms=500).kv_wins


def test_the_wire_has_whole_numbers_and_the_source_of_the_bandwidth() -> None:
    wire = some_terms(text_total_ms=1589.6, kv_bandwidth_mbps=1000.0).as_wire()
    assert wire["text_total_ms"] == 1590
    assert wire["kv_bandwidth_mbps"] == 1000
    assert wire["kv_bandwidth_source"] == "default"
    assert {type(value) for value in wire.values()} == {int, str}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_term_is_a_finite_number(value: float) -> None:
    with pytest.raises(ValueError, match=r"^kv_total_ms must be a finite number"):
        some_terms(kv_total_ms=value)
