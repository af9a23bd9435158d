"""From a stack file to the stack, or to everything that is wrong with it."""

from pathlib import Path

import pytest

from cacheroute_cli.stackfile.read import read_stack_file
from cacheroute_cli.stackfile.tree import (
    AUTO,
    AgentEntry,
    CountedInstances,
    DemoInstanceEntry,
    ProxyEntry,
    RealInstanceEntry,
    StackFile,
)
from tests.cli.stackfile.files import a_file, problems, read


def test_the_published_example_is_read(tmp_path: Path) -> None:
    stack = read(
        tmp_path,
        """\
        stack: demo
        proxy:     {port: 8001, cp_port: 8002, strategy: least_load, injection: iws}
        instances: {count: 4, port: "9001+", profile: h100}
        agents:    {per: host, port: 9201, reuse: true}
        defaults:  {restart: on-failure, backoff_s: [1, 30], max_restarts: 5/60s,
                    stop: {signal: TERM, grace_s: 10}, ready: {http: /healthz, timeout_s: 20}}
        """,
    )

    assert stack.name == "demo"
    assert stack.proxy.options == {"strategy": "least_load", "injection_strategy": "iws"}
    assert isinstance(stack.instances, CountedInstances)
    assert (stack.instances.count, stack.instances.first_port) == (4, 9001)
    assert stack.instances.pattern.options == {"--profile": "h100"}
    assert stack.agents == (AgentEntry(),)
    assert stack.defaults.max_restarts == (5, 60.0)
    assert stack.defaults.grace_s == 10.0
    assert (stack.kdn, stack.redis, stack.scheduler) == (None, None, None)


def test_an_empty_file_is_the_default_stack_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "my fleet!"
    folder.mkdir()
    path = a_file(folder, "")

    stack = read_stack_file(path)

    assert stack == StackFile(
        name="my-fleet", file=path, notes=(f"{path} is empty: the defaults are used",)
    )


def test_instances_are_a_number_a_pattern_or_a_list(tmp_path: Path) -> None:
    assert read(tmp_path, "instances: 3\n").instances == CountedInstances(count=3)
    stack = read(
        tmp_path,
        """\
        instances:
          - {name: a, port: 9001, id: x, speed: 2, tags: [fast, new]}
          - {model: m}
          - name: v
            command: [vllm, serve, m]
            endpoint: http://127.0.0.1:8000/
            model: m
            cwd: work
            env: {HF_HOME: /models, DEBUG: true}
            ready: {http: /ready, timeout_s: 60}
          - {endpoint: "http://10.0.0.7:8000", api_key_env: KEY}
        """,
    )

    assert isinstance(stack.instances, tuple)
    a, b, v, e = stack.instances
    assert isinstance(a, DemoInstanceEntry)
    assert (a.name, a.port, a.id) == ("a", 9001, "x")
    assert a.options == {"--speed": "2", "--tags": "fast,new"}
    assert isinstance(b, DemoInstanceEntry)
    assert (b.name, b.port) == ("instance-2", AUTO)
    assert isinstance(v, RealInstanceEntry)
    assert v.command == ("vllm", "serve", "m")
    assert (v.endpoint, v.cwd) == ("http://127.0.0.1:8000", tmp_path / "work")
    assert v.extra.env == {"HF_HOME": "/models", "DEBUG": "true"}
    assert (v.extra.rules.ready_http, v.extra.rules.ready_timeout_s) == ("/ready", 60.0)
    assert isinstance(e, RealInstanceEntry)
    assert (e.name, e.command, e.options) == ("instance-4", (), {"--api-key-env": "KEY"})


def test_what_is_only_named_has_its_defaults_and_agents_can_be_left_out(tmp_path: Path) -> None:
    stack = read(tmp_path, "kdn:\nredis:\nscheduler: {}\nagents: false\nproxy:\n")

    assert stack.kdn is not None
    assert stack.redis is not None
    assert stack.scheduler is not None
    assert stack.agents == ()
    assert stack.proxy == ProxyEntry()


def test_any_setting_of_the_proxy_and_links_as_a_mapping_are_passed_on(tmp_path: Path) -> None:
    stack = read(
        tmp_path,
        """\
        proxy:
          port: auto
          config: proxy.yaml
          set: {pool.ttl_s: 5, control.allow_remote: true}
          kdn_links: {"kdn:9101": {bandwidth_mbps: 100}}
          static: ["http://10.0.0.8:8000,api_key=env:KEY"]
          restart: always
        """,
    )

    assert stack.proxy.port == AUTO
    assert stack.proxy.config == tmp_path / "proxy.yaml"
    assert stack.proxy.settings == ("pool.ttl_s=5", "control.allow_remote=true")
    assert stack.proxy.options["kdn_links_json"] == '{"kdn:9101": {"bandwidth_mbps": 100}}'
    assert stack.proxy.static == ("http://10.0.0.8:8000,api_key=env:KEY",)
    assert stack.proxy.extra.rules.restart == "always"


def test_all_mistakes_are_told_at_once_each_with_its_line(tmp_path: Path) -> None:
    assert problems(
        tmp_path,
        """\
        stack: "a b"
        proxy:
          prot: 8001
        instances:
          - {name: a, port: 99999}
          - name: a
            endpoint: ftp://x
          - command: [vllm]
        defaults: {restart: sometimes}
        agent: 3
        """,
    ) == [
        ":3: proxy.prot is unknown here; did you mean port?",
        ":5: instances[0].port must be a port from 1 to 65535, or auto, not 99999",
        ":6: instances[1] is called a, as the one on line 5 is",
        ":6: instances[1] has the endpoint 'ftp://x', which is no http:// URL",
        ":8: instances[2] has a command and no endpoint; say where it listens, as endpoint: URL",
        ":9: defaults.restart must be no or never or on-failure or always, not 'sometimes'",
        ":1: stack is 'a b'; a name has up to 64 letters, digits, dots, dashes or underscores",
        ":10: agent is unknown here; did you mean agents?",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- a\n", "the file must hold keys and values, not a list"),
        ("proxy: 3\n", "proxy must hold keys and values, not 3"),
        ("instances: {count: -1}\n", "a whole number from 0 to 256, not -1"),
        ("instances: {count: 2, id: x}\n", "instances.id is unknown here"),
        ("kdn: {db: 3, dbb: 4}\n", "did you mean db?"),
        ("scheduler: {stop: {grace: 3}}\n", "scheduler.stop.grace is unknown here"),
        ("instances: [" + "{}, " * 257 + "]\n", "holds 257 Instances; 256 is the most"),
        ("agents: {per: gpu}\n", "must be host, not 'gpu'"),
        ("console: {theme: dark}\nconsol: {}\n", "did you mean console?"),
    ],
)
def test_a_mistake_names_the_key_and_what_would_do(tmp_path: Path, text: str, words: str) -> None:
    assert any(words in problem for problem in problems(tmp_path, text))


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("http://[::1", "is not [host]:port"),
        ("http://a..b:1", "is not a host name"),
        ("https://a:1", "is no http:// URL"),
        ("a:1", "is no http:// URL"),
    ],
)
def test_an_endpoint_that_cannot_be_is_told_with_its_line(
    tmp_path: Path, endpoint: str, why: str
) -> None:
    [problem] = problems(tmp_path, f"instances:\n  - endpoint: '{endpoint}'\n")

    assert problem.startswith(f":2: instances[0] has the endpoint {endpoint!r}, which ")
    assert why in problem


@pytest.mark.parametrize("said", ["9999999/60s", "5/" + "9" * 400 + "s", "9" * 5000 + "/60s"])
def test_more_restarts_than_anybody_counts_are_refused(tmp_path: Path, said: str) -> None:
    [problem] = problems(tmp_path, f"defaults: {{max_restarts: '{said}'}}\n")

    assert "must be a number of restarts within seconds" in problem
