"""What `up` plans, and how it waits; bringing real stacks up is shown with the command."""

from pathlib import Path

import pytest

from cacheroute_cli.bringing_up import UpOptions, plan_up, up_detached, wait_until_ready
from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.stack_choice import Choice
from cacheroute_cli.supervisor.faults import AlreadyRunning, NotReady
from cacheroute_cli.supervisor.messages import RemoteFault
from cacheroute_cli.supervisor.process import Readiness
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome
from tests.cli.supervisor.stacks import a_plan, supervised


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHEROUTE_STACK_FILE", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_chosen_port_stays_with_its_process(folder: Path) -> None:
    (folder / "stack.yaml").write_text("stack: s\nproxy: {port: auto, cp_port: auto}\n")
    home = StackHome("s")
    home.prepare()
    ports = {"service": 45_001, "control": 45_002}
    home.write_process(
        ProcessStatus(name="proxy", kind="proxy", stack="s", state="running", ports=ports)
    )

    planned = plan_up(UpOptions(choice=Choice(), instances=1, port_offset=3, timeout_s=9.0))

    proxy, agent, instance = planned.request.plans
    assert {port.name: port.port for port in proxy.ports} == ports
    assert [port.port for port in (*agent.ports, *instance.ports)] == [9204, 9004]
    request = planned.request
    assert (request.file, request.instances) == (str(folder / "stack.yaml"), 1)
    assert (request.port_offset, request.timeout_s) == (3, 9.0)


def test_a_supervisor_that_is_being_started_by_another_up_is_a_conflict(folder: Path) -> None:
    planned = plan_up(UpOptions(choice=Choice(name="s")))
    planned.home.prepare()
    with planned.home.supervising(), pytest.raises(Exception, match="stack s") as caught:
        up_detached(planned)

    fault = caught.value
    assert isinstance(fault, AlreadyRunning) or getattr(fault, "exit", None) == Exit.NOT_FOUND


def test_a_wait_ends_when_all_are_ready_or_one_has_failed(folder: Path) -> None:
    with supervised(folder / "state") as it:
        it.ask("apply", a_plan("a"))
        assert wait_until_ready(it.home, 10).snapshot

        never = a_plan("b", ready=Readiness(tcp="127.0.0.1:1", timeout_s=0.1))
        with pytest.raises(RemoteFault):
            it.ask("apply", a_plan("a"), never)
        with pytest.raises(NotReady, match="b is running and not ready") as late:
            wait_until_ready(it.home, 0.2)

    assert late.value.exit == Exit.WAIT_TIMED_OUT
