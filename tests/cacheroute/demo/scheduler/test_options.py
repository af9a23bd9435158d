import pytest

from cacheroute.demo.scheduler.options import SchedulerOptions, parse_options
from cacheroute.formats.address import Address
from cacheroute.member.arguments import EXIT_USAGE


def parse(*argv: str, **environ: str) -> SchedulerOptions:
    return parse_options(argv, environ)


def test_without_a_word_it_is_on_the_published_ports() -> None:
    assert parse() == SchedulerOptions()
    assert (SchedulerOptions().port, SchedulerOptions().cp_port) == (7001, 7002)


def test_every_setting_has_an_option() -> None:
    options = parse(
        "--host", "127.0.0.2", "--port", "0", "--cp-host", "127.0.0.3", "--cp-port", "1",
        "--kdn", "127.0.0.1:9101", "--kdn", "[::1]:9102", "--kdn", "127.0.0.1:9101",
        "--top-k", "2", "--refresh-s", "0.2", "--model", "a", "--model", "b", "--ttl-s", "3",
        "--heartbeat-s", "1", "--runtime-profile", "v1", "--trace-sample-rate", "0.5",
        "--grace-s", "0",
    )  # fmt: skip

    assert options == SchedulerOptions(
        host="127.0.0.2",
        port=0,
        cp_host="127.0.0.3",
        cp_port=1,
        kdns=(Address("127.0.0.1", 9101), Address("::1", 9102)),
        top_k=2,
        refresh_s=0.2,
        models=("a", "b"),
        ttl_s=3.0,
        heartbeat_s=1.0,
        runtime_profile="v1",
        trace_sample_rate=0.5,
        grace_s=0.0,
    )


def test_the_published_environment_is_read_and_outranked() -> None:
    environ = {"CACHEROUTE_RUNTIME_PROFILE": "v1", "CACHEROUTE_TRACE_SAMPLE_RATE": "1"}

    assert parse(**environ).runtime_profile == "v1"
    assert parse(**environ).trace_sample_rate == 1.0
    assert parse("--runtime-profile", "legacy", **environ).runtime_profile == "legacy"


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (("--kdn", "127.0.0.1"), "--kdn: '127.0.0.1' has no port"),
        (("--refresh-s", "0.1"), "--refresh-s: must be a number from 0.2"),
        (("--top-k", "0"), "--top-k: must be a whole number from 1"),
        (("--ttl-s", "2"), "--heartbeat-s 5 is longer than --ttl-s 2"),
        (("--runtime-profile", "x"), "--runtime-profile: invalid choice"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    argv: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        parse(*argv)

    error, hint = capsys.readouterr().err.splitlines()
    assert raised.value.code == EXIT_USAGE
    assert error.startswith(f"cacheroute: error: {why}")
    assert hint == "  hint: try 'python -m cacheroute.demo.scheduler --help'"


def test_a_sample_rate_of_the_environment_that_cannot_be_is_told_too() -> None:
    with pytest.raises(SystemExit):
        parse(CACHEROUTE_TRACE_SAMPLE_RATE="2")
