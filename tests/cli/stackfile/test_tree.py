"""Rules that were left out are filled up from others."""

from cacheroute_cli.stackfile.tree import Rules


def test_a_rule_that_is_said_outranks_one_that_is_not() -> None:
    own = Rules(restart="always", grace_s=0.0)
    defaults = Rules(restart="never", grace_s=5.0, on_failure="stop")

    assert own.over(defaults) == Rules(restart="always", grace_s=0.0, on_failure="stop")
