"""What attaching is started with, and what its end is told as."""

import pytest

from cacheroute_cli.attaching import Attaching, attach_arguments, launch_attach, name_of, named
from cacheroute_cli.diagnostics import Exit, UsageFault
from cacheroute_cli.supervisor.faults import child_failed

PLAIN = Attaching(endpoint="http://h:8000/v1", proxy_url="http://p:8002")


def test_what_was_not_said_is_not_passed_on() -> None:
    launch = launch_attach(PLAIN)

    assert launch.argv[1:] == (
        "-P", "-m", "cacheroute.attach",
        "--endpoint", "http://h:8000/v1", "--proxy-cp-url", "http://p:8002",
    )  # fmt: skip
    assert (launch.kind, launch.name, launch.wanted, launch.env) == (
        "instance", "hp_h:8000", (), {},
    )  # fmt: skip


def test_every_option_is_one_that_the_program_takes() -> None:
    from cacheroute.attach.options import parse_options

    attaching = Attaching(
        endpoint="http://10.0.0.7:8000",
        proxy_url="http://p:1",
        token="s3cret",
        model="m",
        instance_id="i",
        tags="a,b",
        weight=2.0,
        api_key_env="KEY",
        agent_url="http://a:1",
        on_this_host=True,
        kdn_targets="k:1",
        interval_s=1.0,
        wait_s=5.0,
    )

    options = parse_options(list(attach_arguments(attaching)), {"KEY": "k"})

    assert (options.model, options.instance_id, options.tags) == ("m", "i", ("a", "b"))
    assert (options.weight, options.interval_s, options.wait_s) == (2.0, 1.0, 5.0)
    assert (options.agent_url, len(options.kdn_targets)) == ("http://a:1", 1)
    launch = launch_attach(attaching)
    assert launch.env == {"PROXY_CP_TOKEN": "s3cret"}
    assert "s3cret" not in launch.argv
    without = Attaching(endpoint="http://127.0.0.1:8000", proxy_url="http://p:1", no_agent=True)
    assert parse_options(list(attach_arguments(without)), {}).agent_url is None


def test_its_name_here_is_its_id_in_the_pool() -> None:
    assert name_of(PLAIN) == "hp_h:8000"
    assert name_of(Attaching(endpoint="h:1/base", proxy_url="")) == "hp_h:1/base"
    assert name_of(Attaching(endpoint="h:1", proxy_url="", instance_id="i")) == "i"
    with pytest.raises(UsageFault, match="asks for TLS"):
        name_of(Attaching(endpoint="https://h", proxy_url=""))


@pytest.mark.parametrize(
    ("ended_with", "exit_code"),
    [
        (1, Exit.FAILED),
        (2, Exit.USAGE),
        (3, Exit.UNREACHABLE),
        (5, Exit.CONFLICT),
        (7, Exit.WAIT_TIMED_OUT),
        (8, Exit.NOT_ALLOWED),
        (9, Exit.NOT_UNDERSTOOD),
        (-9, Exit.FAILED),
    ],
)
def test_an_exit_code_of_ours_is_handed_on(ended_with: int, exit_code: Exit) -> None:
    fault = named(child_failed("attach", ended_with, ["cannot reach it"], "/log"))

    assert fault.exit == exit_code
    assert fault.message.endswith("before it was ready\ncannot reach it")
    assert fault.details["child_exit"] == ended_with


def test_the_line_of_success_is_found_with_its_addresses() -> None:
    log = "server: waiting\nattached i-1 at http://h:1 to http://p:2\n"

    match = launch_attach(PLAIN).says_ready.search(log)

    assert match is not None
    assert match.groupdict() == {"url": "http://h:1", "proxy": "http://p:2"}
