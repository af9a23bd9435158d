"""How a Proxy stands with its Scheduler, from either side."""

from cacheroute.console.rows.scheduler import SCHEDULER, row_of_proxy, rows_of_scheduler
from cacheroute.wire.debug import SchedulerReply
from cacheroute.wire.scheduler import ProxyRow


def test_the_proxy_tells_its_state_and_its_last_trouble() -> None:
    row = row_of_proxy(
        SchedulerReply(ok=True, state="unreachable", state_age_s=41.0, last_error="It was gone.")
    )
    state = SCHEDULER.column("state")

    assert (row.asked, row.state, row.last_error) == ("proxy", "unreachable", "It was gone.")
    assert state.tone is not None
    assert state.tone(row) == "bad"


def test_a_proxy_without_a_scheduler_is_off_and_that_is_fine() -> None:
    row = row_of_proxy(SchedulerReply(ok=True, state="off"))
    state = SCHEDULER.column("state")

    assert state.tone is not None
    assert state.tone(row) == "dim"
    assert row.url is None


def test_a_scheduler_tells_every_proxy_it_knows() -> None:
    proxy = ProxyRow(
        proxy_id="p", host="h", port=1, registered_at=0, last_seen_at=0, is_alive=False, inflight=3
    )

    [row] = rows_of_scheduler([proxy], "http://s")

    assert (row.asked, row.url, row.state) == ("scheduler", "http://s", "stale")
    assert (row.address, row.inflight, row.failures) == ("h:1", 3, None)
