"""An Instance rebuilt from columns has what they tell and nothing that they do not."""

from cacheroute.sources.rebuilt import instance_row
from cacheroute.wire.console import Columns, ConsoleSnapshot, Identities, Lists

SNAPSHOT = ConsoleSnapshot(
    rev=1,
    generated_at=1_000.0,
    identities=Identities(
        ids=["a", "b"], host="h", port=[1, 2], origin="static",
        models=Lists(values=[["m"], None], at=[1, 0]),
    ),
    instances=Columns(
        state=["dead", "alive"], age_s=[70.0, 2.5], inflight=[0, 4], cpu_util=[None, 9.0],
        report_age_s=[None, 3.0], draining=True,
    ),
)  # fmt: skip


def test_it_has_its_own_values() -> None:
    row = instance_row(SNAPSHOT, "b")

    assert row is not None
    assert (row.instance_id, row.host, row.port, row.models) == ("b", "h", 2, ["m"])
    assert (row.is_alive, row.draining, row.last_seen_at) == (True, True, 997)
    assert (row.load.inflight, row.resource.cpu_util) == (4, 9.0)
    assert row.resource.resource_reported_at == 997


def test_what_is_not_known_stays_so() -> None:
    row = instance_row(SNAPSHOT, "a")

    assert row is not None
    assert (row.is_alive, row.state, row.models) == (False, "dead", None)
    assert (row.resource.cpu_util, row.resource.resource_reported_at) == (None, None)
    assert instance_row(SNAPSHOT, "c") is None
