import pytest

from cacheroute.attach.options import AttachOptions, parse_options
from cacheroute.formats.address import Address, Origin

HERE = ("--endpoint", "http://127.0.0.1:8000")
THERE = ("--endpoint", "http://10.0.0.7:8000/base/v1")


def test_an_endpoint_is_enough() -> None:
    options = parse_options(THERE, {})

    assert options == AttachOptions(origin=Origin("10.0.0.7", 8000, "/base"))
    assert options.proxy_cp_url == "http://127.0.0.1:8002"


def test_what_is_said_counts_more_than_the_environment() -> None:
    environ = {"PROXY_CP_URL": "http://p:1", "PROXY_CP_TOKEN": "t", "KEY": "k"}
    assert parse_options(HERE, environ).proxy_cp_url == "http://p:1"

    options = parse_options(
        (*THERE, "--proxy-cp-url", "http://p:2", "--model", "m", "--instance-id", "i",
         "--tags", "a,b", "--weight", "2", "--api-key-env", "KEY", "--kdn-targets", "k:9101",
         "--interval", "0.5", "--wait", "60"),
        environ,
    )  # fmt: skip

    assert (options.proxy_cp_url, options.proxy_cp_token) == ("http://p:2", "t")
    assert (options.model, options.instance_id, options.tags) == ("m", "i", ("a", "b"))
    assert (options.weight, options.api_key, options.api_key_env) == (2.0, "k", "KEY")
    assert options.kdn_targets == (Address("k", 9101),)
    assert (options.interval_s, options.wait_s) == (0.5, 60.0)


@pytest.mark.parametrize(
    ("argv", "agent_url", "starts"),
    [
        (HERE, "http://127.0.0.1:9201", True),
        ((*HERE, "--no-agent"), None, False),
        ((*HERE, "--agent-url", "http://a:1"), "http://a:1", False),
        (THERE, None, False),
        ((*THERE, "--agent-url", "http://a:1"), "http://a:1", False),
        ((*THERE, "--on-this-host"), "http://127.0.0.1:9201", True),
    ],
)
def test_an_agent_of_ours_sees_servers_of_this_host_only(
    argv: tuple[str, ...], agent_url: str | None, starts: bool
) -> None:
    options = parse_options(argv, {})

    assert (options.agent_url, options.starts_agent) == (agent_url, starts)


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ((), "--endpoint"),
        (("--endpoint", "https://h:1"), "asks for TLS"),
        (("--endpoint", "http://h:1/v1/chat/completions"), "is the path of a request"),
        (("--endpoint", "http://0.0.0.0:1"), "write the address it is reached at"),
        (("--endpoint", "http://169.254.169.254"), "cloud metadata"),
        ((*HERE, "--api-key-env", "NO_SUCH"), "NO_SUCH is not set, or empty"),
        ((*HERE, "--api-key-env", "BAD"), "BAD holds what no HTTP header can carry"),
        ((*HERE, "--no-agent", "--agent-url", "http://a:1"), "not allowed with"),
        ((*HERE, "--weight", "-1"), "--weight: must be a number from 0"),
        ((*HERE, "--interval", "0"), "--interval: must be a number from 0.05"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_2(
    argv: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(argv, {"BAD": "a\nb"})

    error, hint = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2
    assert why in error
    assert hint == "  hint: try 'cacheroute instance attach --help'"


def test_a_token_that_no_header_can_carry_is_one_sentence_and_exit_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_options(HERE, {"PROXY_CP_TOKEN": "schl\u00fcssel"})

    assert ended.value.code == 2
    error, _ = capsys.readouterr().err.splitlines()
    assert error == "cacheroute: error: PROXY_CP_TOKEN holds what no HTTP header can carry"
