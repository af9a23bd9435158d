"""Changes as values, and which models nobody serves after one."""

from dataclasses import replace

from cacheroute.core.changes import Change, Condition, StrategyChange, models_lost, named
from cacheroute.core.pool_member import Member
from tests.cacheroute.core.pool_builders import an_instance

ALIVE = Condition(
    state="alive", draining=False, reason=None, weight=1.0, own_weight=1.0, weight_fixed=False
)


def serving(*models: str, override: str | None = None) -> Member:
    return Member(an_instance(models=frozenset(models) or None, model_override=override))


def test_a_change_is_one_when_anything_differs() -> None:
    same = Change(instance_id="i", before=ALIVE, after=ALIVE, inflight=0, waiting=0)
    assert not same.changed
    drained = replace(ALIVE, draining=True)
    assert Change(instance_id="i", before=ALIVE, after=drained, inflight=0, waiting=0).changed


def test_a_change_of_the_strategy_is_one_when_the_name_differs() -> None:
    told = {"dry_run": False, "inflight": 0, "left": 1}
    assert not StrategyChange(before="a", after="a", **told).changed  # type: ignore[arg-type]
    assert StrategyChange(before="a", after="b", **told).changed  # type: ignore[arg-type]


def test_a_model_is_lost_when_nobody_that_is_left_serves_it() -> None:
    big, small, both = serving("big"), serving("small"), serving("big", "small")
    assert models_lost([big, small, both], [both]) == ()
    assert models_lost([big, small], [small]) == ("big",)
    assert models_lost([both], []) == ("big", "small")


def test_who_may_serve_anything_leaves_no_model_behind() -> None:
    big = serving("big")
    assert models_lost([big], [serving()]) == ()
    assert models_lost([big], [serving("x", override="x")]) == ()
    assert models_lost([serving()], []) == ()


def test_a_sentence_names_a_few() -> None:
    assert named(["b", "a"]) == "a, b"
    assert named([f"i-{n}" for n in range(9)]) == "i-0, i-1, i-2, i-3, i-4 and 4 more"
