"""What a supervisor says of its processes."""

from pathlib import Path

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import ChildFailed, NotReady
from cacheroute_cli.supervisor.keeper import State
from cacheroute_cli.supervisor.process import Readiness
from cacheroute_cli.supervisor.telling import fault_of, listed, order, together, told_ready
from tests.cli.supervisor.stacks import a_plan
from tests.cli.supervisor.test_keeper import a_keeper


def test_names_are_listed_and_many_are_counted() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([str(n) for n in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"


def test_the_order_is_that_of_the_starts_and_of_numbers(tmp_path: Path) -> None:
    names = [("i-10", "instance"), ("i-9", "instance"), ("p", "proxy"), ("agent", "agent")]
    keepers = [a_keeper(tmp_path, a_plan(name, kind=kind)) for name, kind in names]

    assert [k.plan.name for k in sorted(keepers, key=order)] == ["p", "agent", "i-9", "i-10"]


def test_instances_are_told_by_how_many_the_pool_has(tmp_path: Path) -> None:
    member = Readiness(member="i", pool="http://p")
    instances = [a_keeper(tmp_path, a_plan(f"i-{n}", ready=member)) for n in range(2)]

    assert told_ready("instance", instances, 2.34) == "2/2 instances in the pool after 2.3 s"
    proxy = a_keeper(tmp_path, a_plan("p", kind="proxy"))
    assert told_ready("proxy", [proxy], 0.9) == "p ready after 0.9 s"


def test_a_failure_is_told_with_its_reason_and_its_last_words(tmp_path: Path) -> None:
    keeper = a_keeper(tmp_path, a_plan("a"))
    keeper.state, keeper.last_exit = State.FAILED, 2
    keeper.why, keeper.last_words = "ended with exit 2, after 5 restarts", ["oh no"]

    fault = fault_of(keeper, 1.0)

    assert isinstance(fault, ChildFailed)
    assert fault.exit == Exit.USAGE
    assert fault.message.splitlines()[1:] == ["ended with exit 2, after 5 restarts", "oh no"]


def test_what_only_takes_too_long_is_told_with_what_is_missing(tmp_path: Path) -> None:
    keeper = a_keeper(tmp_path, a_plan("a"))
    keeper.state, keeper.why = State.RUNNING, "it answers 503"

    assert fault_of(keeper, 20.0).message == "a is not ready after 20.0 s: it answers 503"


def test_of_several_faults_the_first_gives_the_exit() -> None:
    one = together([NotReady("a", hint="h"), ChildFailed("b")])

    assert (one.exit, one.message, one.hint) == (Exit.WAIT_TIMED_OUT, "a\nb", "h")
    assert together([one]) is one
