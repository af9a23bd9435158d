"""`cacheroute loads`."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies

POOL = replies(
    an_instance("busy", load={"inflight": 7}),
    an_instance("free", load={"inflight": 1}),
    an_instance("gone", is_alive=False, last_seen_at=900),
)


def test_alive_instances_are_listed_the_least_loaded_first(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("loads", "--proxy-url", url, "--columns", "id,inflight,backlog,score")

    assert said.code == Exit.OK
    assert said.out == "free\t1\t—\t1.00\nbusy\t7\t—\t7.00\n"


def test_all_has_those_that_have_expired_too(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        document = cli("loads", "-a", "--proxy-url", url, "-o", "json").document

    assert [(item["id"], item["is_alive"]) for item in document["items"]] == [
        ("free", True),
        ("busy", True),
        ("gone", False),
    ]
