"""Options become the command of the program they are for."""

import sys
from pathlib import Path

import pytest

from cacheroute_cli.launch import (
    ProxyOptions,
    launch_agent,
    launch_instance,
    launch_proxy,
)
from cacheroute_cli.supervisor.ports import Wanted


def test_a_proxy_with_nothing_said_is_told_nothing() -> None:
    launch = launch_proxy(ProxyOptions(), {})

    assert launch.argv == (sys.executable, "-P", "-m", "cacheroute")
    assert launch.name == "hp_127.0.0.1:8001"
    assert [(want.host, want.port, want.option) for want in launch.wanted] == [
        ("127.0.0.1", 8001, "--port"),
        ("127.0.0.1", 8002, "--cp-port"),
    ]


def test_an_empty_host_is_for_the_proxy_to_refuse() -> None:
    launch = launch_proxy(ProxyOptions(host=""), {})

    assert "proxy.host=" in launch.argv
    assert launch.name == "hp_:8001"


def test_every_option_is_a_setting_of_the_proxy(tmp_path: Path) -> None:
    options = ProxyOptions(
        host="0.0.0.0",
        port=1,
        cp_host="::1",
        cp_port=2,
        strategy="least_load",
        injection_strategy="iws",
        ready_release_policy="text_bypass",
        kdn_links_json="{}",
        scheduler_url="http://s:7002",
        proxy_id="p",
        max_capacity=9,
        config=tmp_path / "f.yaml",
        instances=("http://a", "http://b,api_key=env:KEY"),
        settings=("pool.ttl_s=5",),
    )

    arguments = " ".join(launch_proxy(options, {}).argv[4:])

    assert arguments == (
        f"--config {tmp_path}/f.yaml --set proxy.host=0.0.0.0 --set proxy.port=1 "
        "--set control.host=::1 --set control.port=2 --set strategy.name=least_load "
        "--set injection.strategy=iws --set queues.release_policy=text_bypass "
        "--set kdn.links={} --set scheduler.url=http://s:7002 "
        "--set proxy.id=p --set proxy.max_capacity=9 --set pool.ttl_s=5 "
        "--instance http://a --instance http://b,api_key=env:KEY"
    )


def test_every_option_names_a_setting_that_exists() -> None:
    from cacheroute.settings.load import load
    from cacheroute_cli.launch import _SETTING_OF

    values = {
        "host": "127.0.0.1",
        "port": "1",
        "cp_host": "127.0.0.1",
        "cp_port": "2",
        "strategy": "rr",
        "injection_strategy": "iws",
        "ready_release_policy": "text_bypass",
        "kdn_links_json": '{"a:1": {"bandwidth_mbps": 1}}',
        "scheduler_url": "http://s:7002",
        "proxy_id": "p",
        "max_capacity": "3",
    }
    overrides = [f"{path}={values[option]}" for option, path in _SETTING_OF.items()]

    loaded = load(None, overrides, environ={})

    assert loaded.settings.strategy.name == "round_robin"
    assert loaded.settings.injection.strategy == "iws"
    assert set(loaded.settings.kdn.static_links) == {"a:1"}


@pytest.mark.parametrize(
    ("options", "environ", "ports"),
    [
        (ProxyOptions(), {"PROXY_DP_PORT": "7001", "PROXY_CP_PORT": "7002"}, [7001, 7002]),
        (ProxyOptions(), {"CACHEROUTE_PROXY__PORT": "7003"}, [7003, 8002]),
        (ProxyOptions(port=1), {"PROXY_DP_PORT": "7001"}, [1, 8002]),
        (ProxyOptions(settings=("proxy.port=5", "proxy.port=6")), {}, [6, 8002]),
        (ProxyOptions(config=Path("f.yaml")), {}, []),
        (ProxyOptions(config=Path("f.yaml"), host="127.0.0.1", port=5), {}, [5]),
        (ProxyOptions(), {"CACHEROUTE_CONFIG": "f.yaml"}, []),
        (ProxyOptions(), {"PROXY_DP_PORT": "many"}, [8002]),
    ],
)
def test_only_ports_that_are_sure_are_checked_beforehand(
    options: ProxyOptions, environ: dict[str, str], ports: list[int]
) -> None:
    assert [want.port for want in launch_proxy(options, environ).wanted] == ports


@pytest.mark.parametrize(
    ("options", "environ", "name"),
    [
        (ProxyOptions(proxy_id="a"), {"PROXY_ID": "b"}, "a"),
        (ProxyOptions(), {"PROXY_ID": "b"}, "b"),
        (ProxyOptions(host="10.0.0.1", port=9), {}, "hp_10.0.0.1:9"),
        (ProxyOptions(config=Path("/etc/fleet.yaml")), {}, "config_fleet"),
        (ProxyOptions(), {"CONFIG_PATH": "/etc/other.yaml"}, "config_other"),
    ],
)
def test_a_proxy_has_the_name_it_was_given_or_that_of_its_address(
    options: ProxyOptions, environ: dict[str, str], name: str
) -> None:
    assert launch_proxy(options, environ).name == name


def test_the_line_a_proxy_writes_when_it_is_ready_is_found_among_others() -> None:
    log = (
        "12:00:00 I cacheroute starting\n"
        "service http://127.0.0.1:8001  control http://[::1]:8002\n"
        "more\n"
    )

    match = launch_proxy(ProxyOptions(), {}).says_ready.search(log)

    assert match is not None
    assert match.groupdict() == {
        "service": "http://127.0.0.1:8001",
        "control": "http://[::1]:8002",
    }


def test_an_instance_is_told_what_was_said() -> None:
    launch = launch_instance(
        port=0, instance_id="i", proxy_url="http://p:1", model="m", speed=2.0, agent_url="http://a"
    )

    assert launch.argv[4:] == (
        "--port", "0", "--instance-id", "i", "--proxy-cp-url", "http://p:1",
        "--model", "m", "--speed", "2.0", "--agent-url", "http://a",
    )  # fmt: skip
    assert launch.name == "i"
    assert launch_instance(port=9001).name == "hp_127.0.0.1:9001"


def test_a_token_reaches_an_instance_where_no_list_of_processes_shows_it() -> None:
    launch = launch_instance(token="s3cret")

    assert launch.env == {"PROXY_CP_TOKEN": "s3cret"}
    assert "s3cret" not in " ".join(launch.argv)
    assert launch_instance().env == {}


def test_an_agent_listens_where_it_is_told() -> None:
    launch = launch_agent("[::1]:9201")

    assert launch.argv[-2:] == ("--listen", "[::1]:9201")
    assert launch.wanted == (Wanted(host="::1", port=9201, purpose="agent", option="--listen"),)
    assert launch_agent("nonsense").wanted == ()
    match = launch.says_ready.search("listening on http://127.0.0.1:9201\n")
    assert match is not None
    assert match["url"] == "http://127.0.0.1:9201"
