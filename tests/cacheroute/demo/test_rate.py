import pytest

from cacheroute.demo.rate import MinuteRate


def test_a_minute_of_requests_is_a_rate() -> None:
    rate = MinuteRate()
    for n in range(120):
        rate.add(1000 + n / 2)
    assert rate.per_second(1059.9) == pytest.approx(2.0)


def test_what_is_older_than_a_minute_is_forgotten() -> None:
    rate = MinuteRate()
    rate.add(100.0)
    assert rate.per_second(159.9) > 0
    assert rate.per_second(160.0) == 0.0


def test_a_long_silence_costs_no_more_than_a_minute_of_it() -> None:
    rate = MinuteRate()
    rate.add(1.0)
    rate.add(1e12)
    assert rate.per_second(1e12) == pytest.approx(1 / 60)
