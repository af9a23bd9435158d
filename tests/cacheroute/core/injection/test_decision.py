from cacheroute.core.injection.decision import InjectionDecision
from tests.cacheroute.core.injection.injection_builders import some_terms


def test_the_wire_is_flat_and_has_the_terms() -> None:
    decision = InjectionDecision(
        mode="text", reason="text_score_better", strategy="iws", terms=some_terms(margin_ms=100)
    )
    wire = decision.as_wire()
    assert wire["injection_strategy"] == "iws"
    assert wire["injection_mode"] == "text"
    assert wire["injection_reason"] == "text_score_better"
    assert wire["margin_ms"] == 100
    assert {type(value) for value in wire.values()} == {int, str}


def test_what_is_not_known_is_left_out() -> None:
    decision = InjectionDecision(mode="kvcache", reason="estimation_failed", strategy="iws")
    assert decision.as_wire() == {
        "injection_strategy": "iws",
        "injection_mode": "kvcache",
        "injection_reason": "estimation_failed",
    }
