"""`cacheroute resources`."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies

POOL = our_replies(
    an_instance("a", resource={"cpu_util": 22.4, "resource_reported_at": 1_089}),
    an_instance("gone", is_alive=False, last_seen_at=900),
)


def test_each_host_is_told_with_the_age_of_what_is_known(cli: Cli) -> None:
    with a_control_plane(POOL) as url:
        said = cli("resources", "--proxy-url", url, "--columns", "id,cpu,gpu,age")

    assert said.out == "a\t22%\t—\t12s\n"


def test_without_the_proxys_clock_ages_are_unknown(cli: Cli) -> None:
    pool = dict(POOL)
    del pool["/debug/instance_loads"]
    with a_control_plane(pool) as url:
        said = cli("resources", "--proxy-url", url, "-o", "json")

    assert said.code == Exit.OK
    assert [item["report_age_s"] for item in said.document["items"]] == [None, None]
