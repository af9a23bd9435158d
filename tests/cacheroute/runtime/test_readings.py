"""The metrics page is read from its owners."""

from pathlib import Path

from cacheroute.runtime.compose import build
from cacheroute.runtime.readings import MetricsReader
from cacheroute.settings import load


async def test_readings_cover_every_instance_and_what_reached_none(tmp_path: Path) -> None:
    settings = load(
        overrides=[
            "proxy.port=0", "control.port=0", f"state_dir={tmp_path}",
            "pool.instances=127.0.0.1:9", "strategy.name=ll",
        ],
        environ={},
    ).settings  # fmt: skip
    app = build(settings)
    await app.start()
    try:
        member = app.proxy.pool.members["hp_127.0.0.1:9"]
        app.proxy.tally(member).requests = 3
        app.proxy.nowhere.fail("no_instance")
        readings = app.readings()
        assert isinstance(app.readings, MetricsReader)
    finally:
        await app.stop(0)
    (row,) = readings.instances
    assert (row.instance_id, row.tally.requests, row.inflight) == ("hp_127.0.0.1:9", 3, 0)
    assert readings.nowhere.failures == {"no_instance": 1}
    assert readings.by_liveness == {"alive": 1}
    assert readings.strategy == "least_load"
