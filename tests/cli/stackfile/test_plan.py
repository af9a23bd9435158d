"""From a stack to its processes: who is told about whom, and when each is ready."""

from dataclasses import replace
from pathlib import Path

import pytest

from cacheroute_cli.stackfile.plan import NotCounted, SameName, Wishes, instances_of, plan_stack
from cacheroute_cli.stackfile.ports import PortBook
from cacheroute_cli.stackfile.tree import StackFile
from cacheroute_cli.supervisor.process import ProcessPlan, Readiness, StopRule
from tests.cli.stackfile.files import read


def planned(stack: StackFile, wishes: Wishes | None = None) -> dict[str, ProcessPlan]:
    plans = plan_stack(stack, PortBook(find=iter(range(5000, 6000)).__next__), wishes or Wishes())
    return {plan.name: plan for plan in plans}


def option(plan: ProcessPlan, name: str) -> str | None:
    return plan.argv[plan.argv.index(name) + 1] if name in plan.argv else None


def test_the_default_stack_is_a_proxy_an_agent_and_two_instances() -> None:
    plans = planned(StackFile(name="default"))

    assert [(p.name, p.kind) for p in plans.values()] == [
        ("proxy", "proxy"),
        ("agent", "agent"),
        ("instance-1", "instance"),
        ("instance-2", "instance"),
    ]
    assert [port.port for p in plans.values() for port in p.ports] == [8001, 8002, 9201, 9001, 9002]
    first = plans["instance-1"]
    assert option(first, "--instance-id") == "instance-1"
    assert option(first, "--proxy-cp-url") == "http://127.0.0.1:8002"
    assert option(first, "--agent-url") == "http://127.0.0.1:9201"
    assert first.ready == Readiness(
        http="http://127.0.0.1:9001/health", member="instance-1", pool="http://127.0.0.1:8002"
    )
    assert plans["agent"].reuse == "http://127.0.0.1:9201/healthz"
    assert plans["proxy"].check == (*plans["proxy"].argv, "--check")
    assert plans["proxy"].stop == StopRule(grace_s=40.0)


def test_all_kinds_are_wired_to_each_other_and_start_in_order(tmp_path: Path) -> None:
    stack = read(tmp_path, "kdn: {port: auto}\nredis: {program: /bin/true}\nscheduler:\n")

    plans = planned(stack)

    assert list(plans)[:4] == ["redis", "kdn", "scheduler", "proxy"]
    assert plans["redis"].ready.tcp == "127.0.0.1:6379"
    assert option(plans["scheduler"], "--kdn") == "127.0.0.1:5000"
    assert "scheduler.url=http://127.0.0.1:7002" in plans["proxy"].argv
    assert option(plans["instance-1"], "--kdn-targets") == "127.0.0.1:5000"
    assert option(plans["instance-1"], "--kv-redis") == "redis://127.0.0.1:6379/0"
    assert all(plan.cwd == str(tmp_path) for plan in plans.values())


def test_what_the_command_line_wishes_outranks_the_count() -> None:
    stack = StackFile(name="s")

    assert len(instances_of(stack, None)) == 2
    assert [entry.name for entry in instances_of(stack, 3)][-1] == "instance-3"
    assert list(planned(stack, Wishes(instances=0))) == ["proxy", "agent"]


def test_a_token_goes_into_variables_and_onto_no_command_line(tmp_path: Path) -> None:
    stack = read(
        tmp_path, "instances:\n  - {name: a}\n  - {name: far, endpoint: 'http://10.0.0.7:8000'}\n"
    )

    plans = planned(stack, Wishes(own_token="secret"))

    assert plans["proxy"].env == {"CACHEROUTE_CONTROL__TOKEN": "secret"}
    for name in ("a", "far"):
        assert plans[name].env == {"PROXY_CP_TOKEN": "secret"}
        assert plans[name].ready.token == "secret"
    assert not any("secret" in word for plan in plans.values() for word in plan.argv)


def test_a_token_that_is_only_known_protects_nobody() -> None:
    plans = planned(StackFile(name="s"), Wishes(token="known"))

    assert plans["proxy"].env == {}
    assert plans["instance-1"].env == {"PROXY_CP_TOKEN": "known"}


def test_the_token_of_the_file_outranks_the_one_that_is_wished_for(tmp_path: Path) -> None:
    stack = read(tmp_path, "proxy: {env: {CACHEROUTE_CONTROL__TOKEN: of-the-file}}\n")

    plans = planned(stack, Wishes(own_token="typed"))

    assert plans["proxy"].env == {"CACHEROUTE_CONTROL__TOKEN": "of-the-file"}


def test_instances_that_are_listed_cannot_be_another_number(tmp_path: Path) -> None:
    stack = read(tmp_path, "instances:\n  - {name: a}\n  - {name: b}\n")

    assert [entry.name for entry in instances_of(stack, 2)] == ["a", "b"]
    with pytest.raises(NotCounted, match=r"stack\.yaml are a list of 2, and cannot be 3") as fault:
        planned(stack, Wishes(instances=3))
    assert "up -d --remove-orphans" in (fault.value.hint or "")


def test_a_real_server_is_started_and_then_attached(tmp_path: Path) -> None:
    (tmp_path / "serve.sh").write_text("")
    stack = read(
        tmp_path,
        """\
        instances:
          - name: v
            command: [./serve.sh, --port, "8000"]
            endpoint: http://127.0.0.1:8000
            model: m
            stop: {signal: INT}
          - {name: far, endpoint: "http://10.0.0.7:8000", weight: 2}
        """,
    )

    plans = planned(stack)

    server, attach, far = plans["v"], plans["v.attach"], plans["far"]
    assert server.argv == (str(tmp_path / "serve.sh"), "--port", "8000")
    assert (server.kind, server.is_ours) == ("instance", False)
    assert server.ready == Readiness(http="http://127.0.0.1:8000/health", timeout_s=900.0)
    assert server.stop == StopRule(signal=2, grace_s=30.0)
    assert attach.kind == "attach"
    assert attach.argv[1:4] == ("-P", "-m", "cacheroute.attach")
    assert option(attach, "--endpoint") == "http://127.0.0.1:8000"
    assert option(attach, "--instance-id") == "v"
    assert option(attach, "--model") == "m"
    assert option(attach, "--agent-url") == "http://127.0.0.1:9201"
    assert (attach.ready.member, attach.ready.http) == ("v", None)
    assert option(far, "--weight") == "2"
    # The agent of this host has nothing to say about another one.
    assert "--no-agent" in far.argv


def test_a_proxy_on_all_interfaces_is_reached_on_the_loopback(tmp_path: Path) -> None:
    stack = read(tmp_path, 'proxy: {cp_host: 0.0.0.0, host: "::"}\nagents: false\n')

    plans = planned(stack)

    assert plans["proxy"].urls == {
        "control": "http://127.0.0.1:8002", "service": "http://[::1]:8001"
    }  # fmt: skip
    assert "--no-agent" in plans["instance-1"].argv


def test_more_arguments_and_a_health_path_of_its_own_are_taken_over(tmp_path: Path) -> None:
    stack = read(
        tmp_path,
        """\
        proxy: {args: [--instance, "http://h:1"], ready: {http: /ready}}
        agents: {ready: {http: "http://elsewhere/x"}}
        defaults: {ready: {timeout_s: 7}}
        """,
    )

    plans = planned(stack)

    assert plans["proxy"].argv[-2:] == ("--instance", "http://h:1")
    assert plans["proxy"].ready.http == "http://127.0.0.1:8002/ready"
    assert plans["agent"].ready == Readiness(http="http://elsewhere/x", timeout_s=7.0)


def test_the_same_stack_is_planned_the_same() -> None:
    stack = StackFile(name="s")
    changed = replace(stack, proxy=replace(stack.proxy, options={"strategy": "least_load"}))

    assert planned(stack) == planned(stack)
    assert planned(stack)["proxy"].digest != planned(changed)["proxy"].digest
    assert planned(stack)["agent"].digest == planned(changed)["agent"].digest


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("instances: [{name: proxy}]", "a proxy, the other an instance"),
        ("instances: [{name: agent}]", "an agent, the other an instance"),
        ("agents: [{name: a, port: 1}, {name: a, port: 2}]", "an agent, the other an agent"),
        (
            "instances: [{name: a, endpoint: 'http://h:1', command: [sleep]}, {name: a.attach}]",
            "an instance, the other an attach",
        ),
    ],
)
def test_no_two_processes_of_a_stack_have_one_name(tmp_path: Path, text: str, kinds: str) -> None:
    with pytest.raises(SameName, match=kinds):
        planned(read(tmp_path, text))
