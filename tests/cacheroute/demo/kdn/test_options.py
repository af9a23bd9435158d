import pytest

from cacheroute.demo.kdn.options import KdnOptions, parse_options
from cacheroute.formats.address import Address
from cacheroute.member.arguments import EXIT_USAGE


def parse(*argv: str, **environ: str) -> KdnOptions:
    return parse_options(argv, environ)


def test_without_a_word_it_listens_on_9101_and_simulates_nothing() -> None:
    assert parse() == KdnOptions()
    assert (parse().host, parse().port, parse().link.bandwidth_mbps) == ("127.0.0.1", 9101, None)


def test_the_link_is_as_told() -> None:
    link = parse(
        "--bandwidth-mbps", "200", "--delay-ms", "2.5", "--link-efficiency", "1", "--speed", "10"
    ).link

    assert (link.bandwidth_mbps, link.delay_ms, link.efficiency, link.speed) == (200, 2.5, 1, 10)


def test_the_published_environment_is_read_and_outranked() -> None:
    environ = {
        "KDN_ID": "k-1", "KDN_ADVERTISE_HOST": "10.0.0.1", "KDN_ADVERTISE_PORT": "99",
    }  # fmt: skip

    assert (parse(**environ).kdn_id, parse(**environ).advertise_port) == ("k-1", 99)
    assert parse("--kdn-id", "k-2", **environ).kdn_id == "k-2"


def test_a_node_whose_engine_answers_late_waits_less_for_more_kv() -> None:
    assert (parse().settle_s, parse("--settle-s", "0.02").settle_s) == (0.2, 0.02)


def test_a_wildcard_is_not_advertised() -> None:
    assert parse("--host", "0.0.0.0").advertised_host == "127.0.0.1"
    assert parse("--host", "10.0.0.1").advertised_host == "10.0.0.1"
    assert parse("--advertise-host", "kdn.example").advertised_host == "kdn.example"


def test_lists_may_be_given_piece_by_piece() -> None:
    options = parse("--redis", "10.0.0.5:6379", "--redis", "[::1]:6380", "--engine", "gpu-1:8000")

    assert options.redis == (Address("10.0.0.5", 6379), Address("::1", 6380))
    assert options.engines == (Address("gpu-1", 8000),)


@pytest.mark.parametrize(
    "argv",
    [
        ["--port", "70000"],
        ["--bandwidth-mbps", "0"],
        ["--bandwidth-mbps", "nan"],
        ["--link-efficiency", "1.1"],
        ["--delay-ms", "5"],
        ["--redis", "10.0.0.5"],
        ["--max-texts", "0"],
        ["--settle-s", "0"],
        ["--nonsense"],
    ],
)
def test_what_cannot_be_is_one_sentence_and_exit_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(*argv)

    assert ended.value.code == EXIT_USAGE
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith("cacheroute: error: ")
    assert hint == "  hint: try 'python -m cacheroute.demo.kdn --help'"
