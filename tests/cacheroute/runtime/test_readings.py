"""The metrics page is read from its owners."""

from pathlib import Path

from cacheroute.core.dispatch.ticket import Ticket
from cacheroute.dataplane.turns import Signal
from cacheroute.planes.metrics import QueueGauges
from cacheroute.runtime.compose import build
from cacheroute.runtime.readings import MetricsReader
from cacheroute.settings.load import load
from cacheroute.settings.tree import Settings


def settings(state_dir: Path, *more: str) -> Settings:
    return load(
        overrides=[
            "proxy.port=0", "control.port=0", f"state_dir={state_dir}",
            "pool.instances=127.0.0.1:9", "strategy.name=ll", *more,
        ],
        environ={},
    ).settings  # fmt: skip


async def test_readings_cover_every_instance_and_what_reached_none(tmp_path: Path) -> None:
    app = build(settings(tmp_path))
    await app.start()
    try:
        member = app.proxy.pool.members["hp_127.0.0.1:9"]
        app.proxy.tally(member).requests = 3
        app.proxy.nowhere.fail("no_instance")
        app._service.memory.held_bytes = 7
        readings = app.readings()
        assert isinstance(app.readings, MetricsReader)
    finally:
        await app.stop(0)
    (row,) = readings.instances
    assert (row.queues, readings.is_scheduled) == (None, None)
    assert (row.instance_id, row.tally.requests, row.inflight) == ("hp_127.0.0.1:9", 3, 0)
    assert readings.nowhere.failures == {"no_instance": 1}
    assert readings.by_liveness == {"alive": 1}
    assert readings.strategy == "least_load"
    assert (readings.client_connections, readings.request_memory_bytes) == (0, 7)


async def test_queues_are_read_from_the_gate_before_the_instance(tmp_path: Path) -> None:
    app = build(settings(tmp_path))
    await app.start()
    try:
        member = app.proxy.pool.members["hp_127.0.0.1:9"]
        board = app.proxy.turnstiles.gate(member).board
        for _ in range(10):
            assert board.enqueue(Ticket(Signal()))
        assert board.enter(Ticket(Signal()))
        (row,) = app.readings().instances
        assert row.queues == QueueGauges(waiting=(2, 0), active=(8, 1), backlog_s=0.0)
    finally:
        await app.stop(0)


async def test_a_scheduler_that_is_not_there_is_a_zero(tmp_path: Path) -> None:
    app = build(settings(tmp_path, "scheduler.url=http://127.0.0.1:9"))
    await app.start()
    try:
        assert app.readings().is_scheduled is False
    finally:
        await app.stop(0)
