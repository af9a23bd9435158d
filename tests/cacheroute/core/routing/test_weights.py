import math

import pytest

from cacheroute.core.routing.weights import Weights


def test_the_nine_weights_are_the_published_ones_in_their_order() -> None:
    assert list(Weights().as_mapping().items()) == [
        ("inflight", 1.0),
        ("active_prepare", 1.0),
        ("active_ready", 1.0),
        ("prepare_queue_depth", 0.25),
        ("ready_queue_depth", 0.25),
        ("pending_prefill_count", 1.0),
        ("active_decode_count", 0.5),
        ("predicted_total_backlog_ms", 0.001),
        ("qps_1m", 0.0),
    ]


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf])
def test_a_weight_is_finite_and_not_negative(weight: float) -> None:
    with pytest.raises(ValueError, match=r"^qps_1m must be finite and not negative"):
        Weights(qps_1m=weight)


def test_a_weight_of_zero_switches_a_signal_off() -> None:
    assert Weights(inflight=0.0).as_mapping()["inflight"] == 0.0
