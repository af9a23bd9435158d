"""The rules of the queues as they are told: the same ones in force, on both kinds of pages."""

from dataclasses import asdict, fields

import msgspec

from cacheroute.core.dispatch.rules import QueueRules as RulesInForce
from cacheroute.wire.console import ConsoleSnapshot
from cacheroute.wire.debug import InstanceLoadsReply
from cacheroute.wire.queue_rules import QueueRules


def test_every_rule_in_force_is_told_by_its_name() -> None:
    assert [field.name for field in fields(QueueRules)] == [
        field.name for field in fields(RulesInForce)
    ]
    assert asdict(QueueRules(**asdict(RulesInForce()))) == asdict(RulesInForce())


def test_both_pages_tell_the_same_rules_and_pass_over_what_a_later_version_adds() -> None:
    told = {"max_queue": 2, "release_policy": "ordered", "new": 1}
    rules = QueueRules(max_queue=2, release_policy="ordered")

    page = InstanceLoadsReply.model_validate(
        {"ok": True, "ttl_s": 30, "generated_at": 0.0, "instances": [], "queue_rules": told}
    )
    document = msgspec.convert(
        {"rev": 1, "generated_at": 0.0, "queue_rules": told}, ConsoleSnapshot
    )

    assert page.queue_rules == document.queue_rules == rules
    again = msgspec.json.decode(msgspec.json.encode(document), type=ConsoleSnapshot)
    assert again.queue_rules == rules
