"""protocol 3.7 and 3.8: how KV moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.core.predict.transfer import KvSize, PullModel, network_ms


@given(st.integers(0, 10**9), st.integers(1, 4096))
def test_whole_blocks_move_and_the_rest_is_less_than_one(tokens: int, align: int) -> None:
    moved = KvSize.of_bytes(1, align_tokens=align).aligned(tokens)
    assert moved % align == 0
    assert 0 <= tokens - moved < align


def test_a_size_that_was_measured_is_the_same_on_the_link_and_in_redis() -> None:
    size = KvSize.of_bytes(131_072)
    assert size.network_mb(1000) == pytest.approx(131.072)
    assert size.redis_gb(1000) * 1000 == pytest.approx(size.network_mb(1000))


def test_a_transfer_takes_the_usable_share_of_the_link() -> None:
    assert network_ms(98.304, 1000, 0.825) == pytest.approx(953.25, abs=0.01)
    assert network_ms(0, 1000, 0.825) == 0


def test_a_pull_is_a_line_that_is_never_below_zero() -> None:
    assert PullModel(a_ms_per_gb=2000, b_ms=10).pull_ms(0.5) == 1010
    assert PullModel(a_ms_per_gb=2000, b_ms=-10).pull_ms(0) == 0
