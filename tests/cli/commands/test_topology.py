"""`cacheroute topology`."""

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies


def test_links_are_told_with_who_measured_them(cli: Cli) -> None:
    with a_control_plane(our_replies(an_instance("a"))) as url:
        said = cli("topology", "--proxy-url", url)

    assert said.out == "kdn-1\ta\talive\t820\t1.9ms\tyes\t5.0s\n"


def test_a_published_proxy_tells_the_best_ones(cli: Cli) -> None:
    best = {"kdn_links": {"kdn-1": {"bandwidth_mbps": 90, "reported_by": "a"}}}
    with a_control_plane({"/v1/topology/kdn_links": best}) as url:
        said = cli("topology", "--proxy-url", url)

    assert said.code == Exit.OK
    assert said.out == "kdn-1\ta\t—\t90\t—\tyes\t—\n"
