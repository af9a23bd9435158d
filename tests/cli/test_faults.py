"""What was named is not there."""

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.faults import no_such_instance


def test_an_instance_that_is_not_there_is_exit_four_with_the_nearest_names() -> None:
    fault = no_such_instance("inst-9", ["inst-91", "other"])

    assert fault.exit == Exit.NOT_FOUND
    assert fault.message == "there is no Instance 'inst-9' among 2"
    assert fault.hint == "did you mean 'inst-91'?"


def test_where_no_name_is_near_the_list_is_the_way_out() -> None:
    assert "instances --all" in (no_such_instance("x", []).hint or "")
