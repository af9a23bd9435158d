"""`cacheroute queues`."""

from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies


def test_the_longest_wait_is_on_top(cli: Cli) -> None:
    pool = replies(an_instance("short"), an_instance("long"))
    for load, wait_ms in zip(pool["/debug/instance_loads"]["instances"], (5.0, 900.0), strict=True):
        load |= {"ready_queue_depth": 1, "predicted_total_backlog_ms": wait_ms}
    with a_control_plane(pool) as url:
        said = cli("queues", "--proxy-url", url, "--columns", "id,backlog")

    assert said.out == "long\t0.9s\nshort\t0.0s\n"


def test_where_nothing_queues_all_is_unknown(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        document = cli("queues", "--proxy-url", url, "-o", "json").document

    assert document["items"][0]["ready_queue_depth"] is None


def test_each_count_stands_with_its_limit(cli: Cli) -> None:
    pool = replies(an_instance("a"))
    loads = pool["/debug/instance_loads"]
    loads["queue_rules"] = {"prepare_concurrency": 8, "ready_concurrency": 64, "max_queue": 256}
    loads["instances"][0] |= {
        "prepare_queue_depth": 1, "active_prepare": 8, "ready_queue_depth": 0, "active_ready": 12,
    }  # fmt: skip
    with a_control_plane(pool) as url:
        columns = ("--columns", "prep-q,preparing,ready-q,released")
        said = cli("queues", "--proxy-url", url, *columns)
        table = cli("queues", "--proxy-url", url, "-o", "csv", *columns)

    assert said.out == "1/256\t8/8\t0/256\t12/64\n"
    assert table.out.splitlines()[1] == "1,8,0,12"
