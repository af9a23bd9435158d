"""An entry's word, then the defaults', then the kind's."""

import signal

from cacheroute_cli.stackfile.rules import (
    SERVER,
    ready_path,
    ready_timeout_s,
    restart_rule,
    rules_for,
    stop_rule,
)
from cacheroute_cli.stackfile.tree import Rules
from cacheroute_cli.supervisor.process import RestartRule, StopRule


def test_without_a_word_the_kind_decides() -> None:
    assert stop_rule(rules_for("proxy", Rules(), Rules())) == StopRule(grace_s=40.0)
    assert stop_rule(rules_for("agent", Rules(), Rules())) == StopRule(grace_s=10.0)
    assert ready_timeout_s(rules_for(SERVER, Rules(), Rules())) == 900.0
    assert restart_rule(rules_for("kdn", Rules(), Rules())) == RestartRule()


def test_an_entry_outranks_the_defaults_and_those_the_kind() -> None:
    defaults = Rules(grace_s=3.0, backoff_s=(0.5, 4.0))
    own = Rules(grace_s=0.0, stop_signal=signal.SIGINT, max_restarts=(2, 9.0), restart="always")

    rules = rules_for("proxy", own, defaults)

    assert stop_rule(rules) == StopRule(signal=signal.SIGINT, grace_s=0.0)
    assert restart_rule(rules) == RestartRule(
        mode="always", first_s=0.5, longest_s=4.0, most=2, window_s=9.0
    )
    assert stop_rule(rules_for("proxy", Rules(), defaults)).grace_s == 3.0


def test_a_health_path_of_the_defaults_is_for_those_that_have_one() -> None:
    defaults = Rules(ready_http="/healthz")

    assert ready_path("proxy", Rules(), defaults) == "/healthz"
    assert ready_path("instance", Rules(), defaults) is None
    assert ready_path("instance", Rules(ready_http="/ready"), defaults) == "/ready"
