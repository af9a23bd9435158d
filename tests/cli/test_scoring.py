"""Weights of a what-if, as they are typed."""

import pytest

from cacheroute_cli.diagnostics import UsageFault
from cacheroute_cli.scoring import read_weight


def test_a_weight_is_a_signal_and_a_number() -> None:
    assert read_weight("inflight=0.5") == ("inflight", 0.5)
    assert read_weight(" qps_1m =0") == ("qps_1m", 0.0)


@pytest.mark.parametrize("text", ["", "inflight", "=1", "a=b", "a=-1", "a=nan", "a=inf"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(UsageFault, match="a signal and a weight of 0 or more"):
        read_weight(text)
