import argparse

import pytest

from cacheroute.formats.address import Address
from cacheroute.member.arguments import (
    EXIT_USAGE,
    OneLineParser,
    addresses,
    host,
    name,
    number,
    whole,
    words,
)


def a_parser() -> OneLineParser:
    parser = OneLineParser(program="demo", description="Shows.")
    parser.option("--port", type=whole(0, 65535), default=7, help="port")
    parser.option("--factor", type=number(0.5, 2), help="factor")
    parser.option("--model", type=name, help="model")
    parser.option("--host", type=host, help="host")
    return parser


def test_values_are_read_as_what_they_are() -> None:
    given = a_parser().parse_args(["--port", "0", "--factor", "1.5", "--model", "a/b"])

    assert (given.port, given.factor, given.model) == (0, 1.5, "a/b")


def test_a_host_is_written_as_it_is_bound() -> None:
    read = [a_parser().parse_args(["--host", text]).host for text in ("[::1]", "::1", "GPU-1.")]

    assert read == ["::1", "::1", "gpu-1"]


def test_the_help_tells_a_default_only_where_there_is_one() -> None:
    told = a_parser().format_help()

    assert "port (default: 7)" in told
    assert told.count("default") == 1


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["--port", "65536"], "--port: must be a whole number from 0 to 65535"),
        (["--port", "٣"], "--port: must be a whole number from 0 to 65535"),
        (["--factor", "nan"], "--factor: must be a number from 0.5 to 2, not 'nan'"),
        (["--factor", "x"], "--factor: must be a number from 0.5 to 2, not 'x'"),
        (["--model", "a\nb"], "--model: must be 1 to 256 printable characters"),
        (["--host", "a..b"], "--host: 'a..b' is not a host name or an IP address"),
        (["--host", ""], "--host: the host is empty"),
        (["--por", "1"], "unrecognized arguments: --por 1"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    argv: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        a_parser().parse_args(argv)

    error, hint = capsys.readouterr().err.splitlines()
    assert raised.value.code == EXIT_USAGE
    assert error.startswith(f"cacheroute: error: {why}")
    assert hint == "  hint: try 'demo --help'"


def test_words_and_addresses_stand_between_commas() -> None:
    assert words(" a, ,b,") == ("a", "b")
    assert addresses("http://h:1/, [::1]:2") == (Address("h", 1), Address("::1", 2))


@pytest.mark.parametrize(
    ("text", "why"),
    [("h", "must be HOST:PORT"), (",".join(["h:1"] * 65), "names 65 addresses, more than 64")],
)
def test_what_is_no_list_of_addresses_is_refused(text: str, why: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=why):
        addresses(text)
