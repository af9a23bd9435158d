"""The thresholds of alerts come from the configuration, and its defaults are the console's."""

from cacheroute.console.rules import RULES, Limits
from cacheroute_cli.config.options import OPTIONS
from cacheroute_cli.config.rules import rules_of
from cacheroute_cli.context import Given, resolve


def test_the_defaults_of_the_configuration_are_the_rules_of_the_console() -> None:
    assert rules_of(resolve(Given(), {}).alerts) == RULES
    assert rules_of({}) == RULES


def test_a_threshold_that_is_said_holds() -> None:
    rules = rules_of({"skew_min": 9, "gpu": (50, 60)})

    assert (rules.skew_min, rules.gpu, rules.mem) == (9, Limits(warn=50, bad=60), RULES.mem)


def test_every_threshold_of_the_configuration_has_a_rule_and_every_rule_can_be_said() -> None:
    said = {key.partition(".")[2] for key in OPTIONS if key.startswith("alerts.")}

    assert set(RULES.__slots__) == said
