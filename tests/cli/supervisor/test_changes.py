"""What an `up` has to do, by comparison alone."""

from cacheroute_cli.supervisor.changes import Changes, compare
from tests.cli.supervisor.stacks import a_plan

A, B, C = a_plan("a"), a_plan("b"), a_plan("c", kind="agent")
B2 = a_plan("b", "pass")


def names(changes: Changes) -> tuple[list[str], list[str], list[str], list[str]]:
    return (
        [plan.name for plan in changes.new],
        [plan.name for plan in changes.changed],
        list(changes.idle),
        list(changes.vanished),
    )


def test_the_same_stack_needs_nothing() -> None:
    changes = compare([A, B], {"a": A, "b": B})

    assert changes.is_nothing
    assert names(changes) == ([], [], [], [])


def test_new_changed_idle_and_vanished_are_told_apart() -> None:
    changes = compare([A, B2], {"b": B, "c": C}, idle={"b"})

    assert names(changes) == (["a"], ["b"], [], ["c"])
    assert names(compare([B], {"b": B}, idle={"b"})) == ([], [], ["b"], [])


def test_only_some_kinds_can_be_looked_at() -> None:
    assert names(compare([A], {"c": C}, kinds=("instance",))) == (["a"], [], [], [])


def test_what_is_there_can_be_left_as_it_is() -> None:
    changes = compare([A, B2], {"b": B}, idle={"b"}, keep_changed=True)

    assert names(changes) == (["a"], [], [], [])


def test_what_has_vanished_alone_is_nothing_to_do() -> None:
    assert compare([], {"a": A}).is_nothing
