"""What of a stack does not run is told, and its ports are those that are looked at."""

from pathlib import Path

import pytest

from cacheroute_cli.context import Context
from cacheroute_cli.doctor.check import Check
from cacheroute_cli.doctor.of_stack import check_stacks, ports_in_force, proxies_up
from cacheroute_cli.stackfile.document import BadStackFile
from cacheroute_cli.supervisor.stack_home import ProcessStatus, StackHome
from cacheroute_cli.supervisor.state import State


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHEROUTE_STACK_FILE", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CACHEROUTE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def a_stack(name: str, *statuses: ProcessStatus) -> StackHome:
    home = StackHome(name)
    home.prepare()
    for status in statuses:
        home.write_process(status)
    return home


def a_status(name: str, state: str = "running", **more: object) -> ProcessStatus:
    fields = {"kind": "instance", "stack": "s", "ready": state == "running", "log": "L", **more}
    return ProcessStatus(name=name, state=state, **fields)  # type: ignore[arg-type]


def told() -> list[Check]:
    return list(check_stacks(State()))


def test_where_nothing_is_up_nothing_is_amiss() -> None:
    a_stack("s", a_status("a", "stopped"))

    assert [(check.verdict, check.sentence) for check in told()] == [("ok", "none is up")]


def test_a_stack_of_which_all_is_ready_is_one_line() -> None:
    with a_stack("s", a_status("a"), a_status("b", "reused", ready=True)).supervising():
        [check] = told()

    assert (check.verdict, check.sentence) == ("ok", "s is up, all 2 processes are ready")


@pytest.mark.parametrize(
    ("status", "verdict", "sentence", "way_out"),
    [
        (a_status("a", "stopped"), "warn", "a of s is stopped",
            "'cacheroute start a --stack s' starts it"),
        (a_status("a", "exited", why="exit 0"), "warn", "a of s has ended (exit 0)",
            "'cacheroute start a --stack s' starts it"),
        (a_status("a", "failed", why="exit 1"), "bad", "a of s has failed (exit 1)",
            "'cacheroute start a --stack s' starts it again; its log is L"),
        (a_status("a", ready=False, why="it hangs"), "warn",
            "a of s is running and not ready (it hangs)", "its log is L"),
        (a_status("a", "backoff"), "warn", "a of s is backoff and not ready", "its log is L"),
    ],
)  # fmt: skip
def test_what_is_not_ready_is_told_with_the_way_out(
    status: ProcessStatus, verdict: str, sentence: str, way_out: str
) -> None:
    with a_stack("s", status, a_status("b")).supervising():
        [check] = told()

    assert (check.verdict, check.sentence, check.way_out) == (verdict, sentence, way_out)


def test_without_a_file_the_ports_are_those_of_the_default_stack() -> None:
    ports = ports_in_force(None)

    assert (ports.wanted, ports.held) == ((8001, 8002, 9001, 9002, 9201), {})


def test_the_ports_are_those_of_the_file_but_for_what_is_chosen_later(folder: Path) -> None:
    (folder / "stack.yaml").write_text(
        "proxy: {port: 8101, cp_port: auto}\nagents: false\ninstances: {count: 2, port: auto}\n"
    )
    a_stack(folder.name, a_status("instance-1", "stopped", ports={"instance": 45_001}))

    assert ports_in_force(None).wanted == (8101, 45_001)


def test_the_proxy_of_the_context_counts_where_it_is_on_this_host() -> None:
    def ports_with(url: str, *, is_default: bool = False) -> set[int]:
        context = Context(proxy_url=url, proxy_url_is_default=is_default)
        return set(ports_in_force(context).wanted) - {8001, 8002, 9001, 9002, 9201}

    assert ports_with("http://localhost:8302") == {8302}
    assert ports_with("http://10.0.0.7:8302") == set()
    assert ports_with("http://localhost") == set()
    assert ports_with("http://localhost:8302", is_default=True) == set()


def test_a_stack_that_is_up_holds_the_ports_of_what_runs() -> None:
    urls = {"control": "http://127.0.0.1:8502", "service": "http://127.0.0.1:8501"}
    proxy = a_status(
        "proxy", kind="proxy", pid=7, ports={"service": 8501, "control": 8502}, urls=urls
    )
    home = a_stack("s", proxy, a_status("a", "stopped", ports={"instance": 8503}))
    other = a_stack("t", a_status("b", pid=8, ports={"instance": 8600}))

    with home.supervising():
        ports = ports_in_force(None)
        assert (ports.wanted, ports.held) == ((8501, 8502, 8503), {8501: 7, 8502: 7})
        assert proxies_up() == ["http://127.0.0.1:8502"]
        with other.supervising():
            assert ports_in_force(None).wanted == (8501, 8502, 8503, 8600)


def test_a_file_that_is_wrong_is_a_fault(folder: Path) -> None:
    (folder / "stack.yaml").write_text("proxy: {prot: 1}\n")

    with pytest.raises(BadStackFile, match="did you mean port"):
        ports_in_force(None)
