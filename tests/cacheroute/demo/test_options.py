import pytest

from cacheroute.core.engine.profile import PROFILES
from cacheroute.demo.faults import Fault
from cacheroute.demo.options import InstanceOptions, parse_options
from cacheroute.formats.address import Address
from cacheroute.member.arguments import EXIT_USAGE


def parse(*argv: str, **environ: str) -> InstanceOptions:
    return parse_options(argv, environ)


def test_without_a_word_it_stands_alone_on_9001() -> None:
    options = parse()
    assert (options.host, options.port, options.proxy_cp_url) == ("127.0.0.1", 9001, None)
    assert (options.profile.name, options.profile.block_tokens) == ("h100", 16)
    assert (options.agent_port, options.starts_agent, options.report_resources) == (
        9201,
        True,
        True,
    )


def test_the_published_environment_is_read() -> None:
    options = parse(
        PROXY_CP_URL="http://127.0.0.1:8002", INSTANCE_ID="i-1", INSTANCE_PORT="9011",
        INSTANCE_CP_HOST="127.0.0.2", INSTANCE_CP_PORT="9012",
        INSTANCE_ADVERTISE_HOST="10.0.0.1", INSTANCE_ADVERTISE_PORT="99",
        INSTANCE_MODEL_ID="m", INSTANCE_KV_BLOCK_SIZE="64",
        INSTANCE_RESOURCE_AGENT_LISTEN="127.0.0.1:9301", INSTANCE_RESOURCE_REPORT_INTERVAL_MS="250",
        PROXY_CP_TOKEN="secret",
    )  # fmt: skip
    assert (options.proxy_cp_url, options.instance_id) == ("http://127.0.0.1:8002", "i-1")
    assert (options.port, options.cp_host, options.cp_port) == (9011, "127.0.0.2", 9012)
    assert (options.advertise_host, options.advertise_port) == ("10.0.0.1", 99)
    assert (options.model, options.profile.block_tokens) == ("m", 64)
    assert (options.agent_port, options.report_interval_s) == (9301, 0.25)
    assert options.proxy_cp_token == "secret"


def test_knowledge_nodes_are_named_by_their_addresses() -> None:
    assert parse().kdn_targets == ()
    options = parse(
        "--kdn-targets", "10.0.0.1:9101, http://[::1]:9102/,", "--topology-interval-s", "1"
    )  # fmt: skip
    assert options.kdn_targets == (Address("10.0.0.1", 9101), Address("::1", 9102))
    assert (options.topology_interval_s, options.link_bandwidth_mbps) == (1.0, 1000.0)
    options = parse(INSTANCE_TOPOLOGY_KDN_TARGETS="h:1", INSTANCE_DEFAULT_LINK_BW_MBPS="25000")
    assert (options.kdn_targets, options.link_bandwidth_mbps) == ((Address("h", 1),), 25000.0)


def test_a_70b_model_can_be_chosen_with_the_blocks_that_knowledge_needs() -> None:
    options = parse("--profile", "llama70b", "--block-size", "256")
    assert (options.profile.cards, options.profile.block_tokens) == (8, 256)


def test_the_command_line_outranks_the_environment() -> None:
    options = parse("--proxy-cp-url", "", "--port", "0", PROXY_CP_URL="http://x", INSTANCE_PORT="1")
    assert (options.proxy_cp_url, options.port) == (None, 0)


def test_an_agent_that_is_named_is_never_started() -> None:
    options = parse("--agent-url", "http://10.0.0.1:9201")
    assert (options.agent_url, options.starts_agent) == ("http://10.0.0.1:9201", False)
    assert not parse(INSTANCE_RESOURCE_AUTO_START_AGENT="0").starts_agent


@pytest.mark.parametrize(
    "name", ["INSTANCE_RESOURCE_MONITOR_ENABLE", "INSTANCE_RESOURCE_REPORT_ENABLE"]
)
def test_reporting_can_be_turned_off(name: str) -> None:
    assert not parse(**{name: "false"}).report_resources
    assert not parse("--no-agent").report_resources


def test_everything_else_has_an_option() -> None:
    options = parse(
        "--profile", "a100", "--speed", "20", "--kv-tokens", "1000", "--block-size", "100",
        "--max-model-len", "5000", "--max-num-queued-reqs", "4", "--tags", "a, b,",
        "--weight", "2.5", "--heartbeat-s", "1", "--grace-s", "0",
        "--fault", "error:status=503", "--fault", "freeze",
    )  # fmt: skip
    assert options.profile.weights_s == PROFILES["a100"].weights_s
    assert (options.profile.kv_tokens, options.max_model_tokens) == (1000, 1000)
    assert (options.speed, options.max_queued, options.tags) == (20.0, 4, ("a", "b"))
    assert (options.weight, options.heartbeat_s, options.grace_s) == (2.5, 1.0, 0.0)
    assert options.faults == (
        Fault(kind="error", status=503, count=1), Fault(kind="freeze"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "argv",
    [
        ("--port", "99999"),
        ("--port", "x"),
        ("--speed", "0"),
        ("--speed", "nan"),
        ("--weight", "-1"),
        ("--model", ""),
        ("--profile", "b200"),
        ("--block-size", "0"),
        ("--kv-tokens", "5"),
        ("--fault", "boom"),
        ("--unknown",),
        ("--por", "1"),
    ],
)
def test_an_option_that_cannot_be_is_one_sentence(
    argv: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(*argv)
    assert caught.value.code == EXIT_USAGE
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("cacheroute: error: ")
    assert hint == "  hint: try 'cacheroute instance start --help'"


def test_an_environment_that_cannot_be_is_one_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(INSTANCE_PORT="many")
    assert "--port: must be a whole number from 0 to 65535, not 'many'" in capsys.readouterr().err
