"""`cacheroute alerts`."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, replies


def test_what_is_out_of_order_is_listed_the_worst_first(cli: Cli) -> None:
    pool = replies(
        an_instance("free"),
        an_instance("busy", load={"inflight": 9}),
        an_instance("idle"),
        an_instance("gone", is_alive=False, last_seen_at=900),
    )
    with a_control_plane(pool) as url:
        document = cli("alerts", "--proxy-url", url, "-o", "json").document

    assert [(a["kind"], a["instance_id"], a["value"]) for a in document["items"]] == [
        ("dead", "gone", 201.0),
        ("skew", "busy", 9),
    ]


def test_a_pool_in_order_has_none_and_that_is_fine(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        said = cli("alerts", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.OK, "")
