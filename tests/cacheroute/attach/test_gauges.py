import pytest

from cacheroute.attach.gauges import Gauges, RequestRate
from cacheroute.formats.engine_metrics import EngineStats

BUSY = EngineStats(kind="vllm", running=3, waiting=2, kv_usage_ratio=0.5, finished=10.0)


def rate_of(*readings: tuple[float, float | None]) -> float | None:
    rate = RequestRate()
    for now_s, count in readings:
        rate.note(now_s, count)
    return rate.per_second


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        ([], None),
        ([(0.0, 5.0)], None),
        ([(0.0, 5.0), (10.0, 25.0)], 2.0),
        ([(0.0, 5.0), (0.0, 9.0)], None),
        ([(float(n), 2.0 * n) for n in range(100)], 2.0),
        ([(0.0, 0.0), (60.0, 600.0), (120.0, 600.0)], 0.0),
        # Another start of the engine counts from nothing.
        ([(0.0, 500.0), (10.0, 600.0), (20.0, 0.0), (30.0, 10.0)], 1.0),
        ([(0.0, 5.0), (10.0, 25.0), (20.0, None)], None),
    ],
)
def test_the_rate_is_that_of_the_last_minute(
    readings: list[tuple[float, float | None]], expected: float | None
) -> None:
    assert rate_of(*readings) == expected


def test_many_readings_need_little_room() -> None:
    rate = RequestRate()
    for n in range(100_000):
        rate.note(n / 100, float(n))

    assert rate.per_second == pytest.approx(100.0)
    assert len(rate._read) <= 63


def test_load_and_runtime_are_told_while_they_are_fresh() -> None:
    gauges = Gauges(stale_after_s=6.0)
    gauges.kind, gauges.version = "vllm", "0.32.0"
    gauges.note(100.0, BUSY)
    gauges.note(101.0, None)

    assert gauges.load(106.0) == {"inflight": 5, "qps_1m": None, "gpu_util": None}
    assert gauges.runtime(102.5) == {
        "engine": {
            "kind": "vllm",
            "version": "0.32.0",
            "running": 3,
            "waiting": 2,
            "kv_usage_ratio": 0.5,
            "age_ms": 2500,
        }
    }


def test_what_is_old_or_gone_is_unknown() -> None:
    gauges = Gauges(stale_after_s=6.0)
    gauges.note(100.0, BUSY)
    assert gauges.load(106.1)["inflight"] is None
    gauges.note(107.0, BUSY)
    assert gauges.load(107.0)["qps_1m"] == 0.0

    gauges.forget()

    assert set(gauges.load(107.0).values()) == {None}
    engine = gauges.runtime(107.0)["engine"]
    assert isinstance(engine, dict)
    assert set(engine.values()) == {None}
