"""Two plans are the same process when nothing about them differs."""

from dataclasses import replace

from cacheroute_cli.supervisor.process import BASE, RUNGS, StopRule, digest_of
from tests.cli.supervisor.stacks import a_plan


def test_a_plan_that_differs_in_anything_has_another_digest() -> None:
    plan = a_plan("a")
    others = [
        replace(plan, argv=(*plan.argv, "x")),
        replace(plan, env={"A": "1"}),
        replace(plan, stop=StopRule(grace_s=1.5)),
        replace(plan, cwd="/"),
    ]

    assert plan.digest == a_plan("a").digest
    assert len({plan.digest, *(other.digest for other in others)}) == 5


def test_a_stack_is_the_same_in_any_order() -> None:
    a, b = a_plan("a"), a_plan("b")

    assert digest_of((a, b)) == digest_of((b, a)) != digest_of((a,))


def test_every_kind_has_its_rung_and_what_the_rest_stands_on_comes_first() -> None:
    assert RUNGS[: len(BASE)] == BASE
    assert [a_plan("x", kind=kind).rung for kind in RUNGS] == list(range(len(RUNGS)))
