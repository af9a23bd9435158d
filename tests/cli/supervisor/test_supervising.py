"""A stack of real processes under a real supervisor: kept, changed, and left up when one fails."""

import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.messages import RemoteFault
from cacheroute_cli.supervisor.process import PlannedPort, Readiness, RestartRule, StopRule
from tests.cli.supervisor.children import SLEEPER, STUBBORN, eventually, is_gone
from tests.cli.supervisor.stacks import Supervised, a_plan, kill, supervised

NEVER = Readiness(tcp="127.0.0.1:1", timeout_s=30)
CRASHER = "import sys; print('it hurts here', flush=True); sys.exit(3)"


@pytest.fixture
def it(tmp_path: Path) -> Iterator[Supervised]:
    with supervised(tmp_path) as supervisor:
        yield supervisor


def test_a_stack_is_started_rung_by_rung_and_the_same_again_changes_nothing(
    it: Supervised,
) -> None:
    plans = (a_plan("i", kind="instance"), a_plan("p", kind="proxy"), a_plan("a", kind="agent"))

    first = it.ask("apply", *plans)
    assert first.changed
    assert [s.name for s in first.snapshot or ()] == ["p", "a", "i"]
    assert all(s.ready and s.state == "running" for s in first.snapshot or ())
    assert [told.split()[0] for told in it.told] == ["p", "a", "i"]

    pids = [s.pid for s in first.snapshot or ()]
    again = it.ask("apply", *plans)
    assert not again.changed
    assert [s.pid for s in again.snapshot or ()] == pids


def test_only_what_has_changed_is_started_anew_and_what_vanished_is_told(it: Supervised) -> None:
    it.ask("apply", a_plan("a"), a_plan("b"), a_plan("c"))
    a, b = it.pid("a"), it.pid("b")

    it.ask("apply", a_plan("a"), a_plan("b", SLEEPER + "pass\n"))
    assert it.pid("a") == a
    assert it.pid("b") != b
    assert is_gone(b)
    assert it.status("c").state == "running"
    assert any("c not in the stack any more" in told for told in it.told)

    it.ask("apply", a_plan("a"), a_plan("b", SLEEPER + "pass\n"), remove_vanished=True)
    assert [s.name for s in it.ask("ps").snapshot or ()] == ["a", "b"]


def test_a_scale_leaves_alone_what_stays(it: Supervised) -> None:
    it.ask("apply", a_plan("p", kind="proxy"), a_plan("i-1"), a_plan("i-2"))
    proxy, first = it.pid("p"), it.pid("i-1")
    only: dict[str, Any] = {"kinds": ("instance",), "keep_changed": True, "remove_vanished": True}

    it.ask("apply", *(a_plan(f"i-{n}", SLEEPER + "pass\n") for n in (1, 2, 3)), **only)
    assert [s.name for s in it.ask("ps").snapshot or ()] == ["p", "i-1", "i-2", "i-3"]
    it.ask("apply", a_plan("i-1", SLEEPER + "pass\n"), **only)

    assert [s.pid for s in it.ask("ps").snapshot or ()] == [proxy, first]


def test_one_process_is_stopped_started_and_restarted_by_name_or_kind(it: Supervised) -> None:
    it.ask("apply", a_plan("p", kind="proxy"), a_plan("i-1"), a_plan("i-2"))
    before = it.pid("i-1")

    it.ask("stop", names=["i-1"])
    assert is_gone(before)
    assert it.status("i-1").state == "stopped"
    assert it.status("i-2").state == "running"

    it.ask("start", names=["instances"])
    assert it.status("i-1").ready
    proxy = it.pid("p")
    it.ask("restart", names=["proxy"])
    assert it.pid("p") != proxy

    with pytest.raises(RemoteFault, match="no process 'x' in stack s; known are i-1, i-2, p") as no:
        it.ask("stop", names=["x"])
    assert no.value.exit == Exit.NOT_FOUND


def test_what_is_killed_is_started_again_and_counted(it: Supervised) -> None:
    it.ask("apply", a_plan("a"))
    before = it.pid("a")

    kill(before)

    assert eventually(
        lambda: it.status("a").pid not in (None, before) and bool(it.status("a").ready)
    )
    assert it.status("a").restarts == 1
    assert it.status("a").last_exit == -9


def test_a_crash_loop_fails_with_the_last_words_and_the_others_stay_up(it: Supervised) -> None:
    with pytest.raises(RemoteFault, match="it hurts here") as failed:
        it.ask(
            "apply", a_plan("p", kind="proxy"), a_plan("good"), a_plan("bad", CRASHER, ready=NEVER)
        )

    assert failed.value.exit == Exit.FAILED
    assert "bad ended with exit 3" in failed.value.message
    assert "after 3 restarts in 60 s" in failed.value.message
    assert it.status("bad").state == "failed"
    assert it.status("bad").restarts == 3
    assert it.status("good").ready
    assert it.status("p").ready
    log = it.home.supervisor_log.read_text()
    assert "bad has failed" in log
    assert "  it hurts here" in log


def test_without_its_base_a_new_stack_comes_up_not_at_all(it: Supervised) -> None:
    never = RestartRule(mode="never")
    with pytest.raises(RemoteFault, match="p ended with exit 3"):
        it.ask(
            "apply",
            a_plan("k", kind="kdn"),
            a_plan("p", CRASHER, kind="proxy", restart=never, ready=NEVER),
            a_plan("i"),
        )

    assert it.process.wait(timeout=10) == 0
    assert it.home.processes() == []
    assert not it.home.is_supervised()


def test_what_is_refused_before_the_start_starts_nothing(it: Supervised) -> None:
    it.ask("apply", a_plan("a"))
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = PlannedPort(name="instance", host="127.0.0.1", port=server.getsockname()[1])
        with pytest.raises(
            RemoteFault, match=f"port {port.port} for the process c is taken"
        ) as taken:
            it.ask("apply", a_plan("a"), a_plan("b"), a_plan("c", ports=(port,)))

    assert taken.value.exit == Exit.CONFLICT
    assert taken.value.details["port"] == port.port
    assert [s.name for s in it.ask("ps").snapshot or ()] == ["a"]


def test_what_is_not_ready_in_time_is_told_and_stays(it: Supervised) -> None:
    unready = Readiness(tcp="127.0.0.1:1", timeout_s=0.2)

    with pytest.raises(RemoteFault, match="slow is not ready after") as late:
        it.ask("apply", a_plan("slow", ready=unready))

    assert late.value.exit == Exit.WAIT_TIMED_OUT
    assert it.status("slow").ready is False
    assert "takes no connection" in (it.status("slow").why or "")


def test_who_ignores_a_term_is_killed_after_its_grace(it: Supervised) -> None:
    it.ask("apply", a_plan("a", STUBBORN, stop=StopRule(grace_s=0.2)))
    pid = it.pid("a")
    assert eventually(lambda: "ready" in it.home.log_of("a").read_text())

    it.ask("stop", names=["a"])

    assert is_gone(pid)
    assert it.status("a").last_exit == -9


def test_a_failure_can_take_everything_with_it_and_gives_its_exit(it: Supervised) -> None:
    plan = a_plan(
        "last", CRASHER, restart=RestartRule(mode="never"), on_failure="stop", ready=NEVER
    )

    with pytest.raises(RemoteFault, match="last ended with exit 3"):
        it.ask("apply", a_plan("p", kind="proxy"), plan)

    assert it.process.wait(timeout=10) == 3
    assert it.home.processes() == []


def test_a_second_change_at_once_is_refused_and_down_ends_the_first(it: Supervised) -> None:
    import threading

    slow = a_plan("slow", ready=NEVER)
    faults: list[RemoteFault] = []

    def first() -> None:
        try:
            it.ask("apply", slow)
        except RemoteFault as fault:
            faults.append(fault)

    thread = threading.Thread(target=first)
    thread.start()
    assert eventually(lambda: bool(it.ask("ps").snapshot))

    with pytest.raises(RemoteFault, match="'up', is at work on stack s") as second:
        it.ask("apply", slow)
    assert second.value.exit == Exit.CONFLICT
    pid = it.pid("slow")
    it.ask("down")
    thread.join(timeout=10)

    assert is_gone(pid)
    assert [fault.message for fault in faults] == ["the stack was ended meanwhile"]
    assert it.process.wait(timeout=10) == 0


def test_another_healthy_one_is_reused_and_never_ended(it: Supervised, tmp_path: Path) -> None:
    import http.server
    import threading

    class Healthy(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Healthy) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        port = server.server_address[1]
        url = f"http://127.0.0.1:{port}/healthz"
        agent = a_plan(
            "agent",
            kind="agent",
            ports=(PlannedPort(name="agent", host="127.0.0.1", port=port),),
            ready=Readiness(http=url),
            reuse=url,
        )
        it.ask("apply", a_plan("p", kind="proxy"), agent)
        status = it.status("agent")
        server.shutdown()

    assert (status.state, status.ready, status.pid) == ("reused", True, None)
    assert any("is healthy, and reused" in told for told in it.told)
    it.ask("down")


def test_a_full_disk_below_the_state_costs_the_records_and_nothing_else(it: Supervised) -> None:
    it.ask("apply", a_plan("a"))
    procs = it.home.folder / "procs"
    (procs / "b.json").mkdir()

    it.ask("apply", a_plan("a"), a_plan("b"))

    assert it.status("b").ready
    assert "the state folder cannot be written to" in it.home.supervisor_log.read_text()


def test_plans_that_differ_in_their_grace_alone_differ(it: Supervised) -> None:
    plan = a_plan("a")
    it.ask("apply", plan)

    assert it.ask("apply", replace(plan, stop=StopRule(grace_s=6.0))).changed
