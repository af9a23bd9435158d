"""`cacheroute scheduler`."""

import pytest

from cacheroute_cli.diagnostics import Exit
from tests.cli.commands.conftest import Cli
from tests.cli.commands.control_plane import a_control_plane, an_instance, our_replies, replies

LISTED = {
    "/v1/proxy/list": [
        {
            "proxy_id": "proxy-a", "host": "h", "port": 8001, "registered_at": 0,
            "last_seen_at": 0, "is_alive": True, "instance_count": 2,
        }
    ]
}  # fmt: skip


def test_the_proxy_says_how_it_stands(cli: Cli) -> None:
    with a_control_plane(our_replies(an_instance("a"))) as url:
        said = cli("scheduler", "--proxy-url", url, "--columns", "proxy,state,scheduler")

    assert said.out == "proxy-a\toff\t—\n"


def test_a_scheduler_can_be_asked_instead(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with a_control_plane(LISTED) as url:
        asked = cli("scheduler", "--scheduler-url", url, "--columns", "proxy,state,address,inst")
        monkeypatch.setenv("SCHEDULER_CP_URL", url)
        by_name = cli("scheduler", "-o", "name")

    assert asked.out == "proxy-a\talive\th:8001\t2\n"
    assert by_name.out == "proxy-a\n"


def test_a_scheduler_that_is_not_there_is_named(cli: Cli) -> None:
    said = cli("scheduler", "--scheduler-url", "127.0.0.1:1")

    assert said.code == Exit.UNREACHABLE
    assert "http://127.0.0.1:1" in said.err


def test_a_published_proxy_does_not_say_and_that_is_no_error(cli: Cli) -> None:
    with a_control_plane(replies(an_instance("a"))) as url:
        said = cli("scheduler", "--proxy-url", url)

    assert (said.code, said.out) == (Exit.OK, "")


THREE = {
    "/v1/proxy/list": [
        {**LISTED["/v1/proxy/list"][0], "proxy_id": f"proxy-{name}"} for name in "abc"
    ]
}


def test_of_many_proxies_the_one_that_is_meant_is_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    with a_control_plane(THREE) as url:
        everyone = cli("scheduler", "--scheduler-url", url, "-o", "name")
        monkeypatch.setenv("PROXY_ID", "proxy-b")
        mine = cli("scheduler", "--scheduler-url", url, "-o", "name")
        document = cli("scheduler", "--scheduler-url", url, "-o", "json").document
        again = cli("scheduler", "--scheduler-url", url, "-o", "name", "--all")

    assert everyone.out == again.out == "proxy-a\nproxy-b\nproxy-c\n"
    assert mine.out == "proxy-b\n"
    assert [row["proxy_id"] for row in document["items"]] == ["proxy-b"]


def test_a_proxy_that_the_scheduler_does_not_know_is_exit_four(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROXY_ID", "proxy-d")
    with a_control_plane(THREE) as url:
        said = cli("scheduler", "--scheduler-url", url)

    assert said.code == Exit.NOT_FOUND
    assert f"the Scheduler at {url} knows no Proxy 'proxy-d' among 3" in said.err
    assert "did you mean 'proxy-c'" in said.err
