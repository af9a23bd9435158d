"""What the metrics page shows, read from its owners at scrape time."""

from collections.abc import Callable

from cacheroute.core.health.ejection import Ejections
from cacheroute.core.pressure import Queues
from cacheroute.core.scheduler_state import SchedulerState
from cacheroute.core.tally import Tally
from cacheroute.dataplane.server import HttpServer
from cacheroute.planes.metrics import InstanceGauges, QueueGauges, Readings
from cacheroute.runtime.proxy import Proxy
from cacheroute.runtime.request_log import RequestLog

_UNSEEN = Tally()


class MetricsReader:
    """Takes all readings in one go."""

    def __init__(
        self,
        proxy: Proxy,
        service: HttpServer,
        request_log: RequestLog,
        scheduler_state: Callable[[], SchedulerState | None] = lambda: None,
    ) -> None:
        self._proxy = proxy
        self._service = service
        self._log = request_log
        self._scheduler_state = scheduler_state

    def __call__(self) -> Readings:
        """Read everything now."""
        proxy = self._proxy
        now = proxy.clock.now()
        scheduler = self._scheduler_state()
        members = list(proxy.pool.members.values())
        by_liveness: dict[str, int] = {}
        for member in members:
            state = proxy.pool.liveness(member, now)
            by_liveness[state] = by_liveness.get(state, 0) + 1
        return Readings(
            instances=tuple(
                InstanceGauges(
                    instance_id=member.instance.instance_id,
                    tally=proxy.tallies.get(member, _UNSEEN),
                    inflight=member.inflight,
                    is_resting=Ejections.rests_at(member, now.mono_s),
                    queues=_queues(member.queues, now.mono_s),
                )
                for member in members
            ),
            nowhere=proxy.nowhere,
            by_liveness=by_liveness,
            strategy=proxy.strategy.name,
            decisions_total=proxy.decisions.total,
            unknown_calls_total=proxy.pool.unknown.total,
            client_connections=self._service.connections,
            request_memory_bytes=self._service.memory.held_bytes,
            log_dropped_total=self._log.dropped,
            is_scheduled=None if scheduler is None else scheduler.state == "registered",
        )


def _queues(queues: Queues | None, now_mono_s: float) -> QueueGauges | None:
    if queues is None:
        return None
    backlog_s = queues.wait_ms(now_mono_s) / 1000
    return QueueGauges(
        waiting=(queues.prepare_queue_depth, queues.ready_queue_depth),
        active=(queues.active_prepare, queues.active_ready),
        backlog_s=backlog_s,
    )
