from cacheroute.core.predict.samples import DecodeSample, PrefillSample, PullSample


def test_a_measurement_is_of_one_request_without_context_unless_it_says_so() -> None:
    prefill = PrefillSample(uncached_tokens=10, ttft_ms=5)
    assert (prefill.batch, prefill.context_tokens) == (1, 0)
    assert DecodeSample(context_tokens=10, tpot_ms=5).batch == 1
    assert PullSample(gb=1, pull_ms=5) == PullSample(pull_ms=5, gb=1)
