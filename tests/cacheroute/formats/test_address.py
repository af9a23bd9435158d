import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cacheroute.formats.address import (
    Address,
    Origin,
    forbidden_reason,
    is_loopback,
    is_unspecified,
    parse_base_url,
    parse_host,
    parse_host_port,
    parse_port,
)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("10.0.0.7:8000", "http://10.0.0.7:8000"),
        ("10.0.0.7:8000/", "http://10.0.0.7:8000"),
        ("10.0.0.7:8000/v1", "http://10.0.0.7:8000"),
        ("10.0.0.7:8000/v1/", "http://10.0.0.7:8000"),
        ("10.0.0.7:8000/base/v1/", "http://10.0.0.7:8000/base"),
        ("http://10.0.0.7:8000//", "http://10.0.0.7:8000"),
        ("HTTP://GPU-1.Example.:8000/Base", "http://gpu-1.example:8000/Base"),
        ("http://gpu_1/v1", "http://gpu_1:80"),
        ("[::1]:8000", "http://[::1]:8000"),
        ("http://[0:0:0:0:0:0:0:1]:8000/v1", "http://[::1]:8000"),
        ("http://[::1]", "http://[::1]:80"),
        (" localhost:8000 ", "http://localhost:8000"),
    ],
)
def test_every_spelling_of_an_address_has_one_canonical_form(text: str, url: str) -> None:
    origin = parse_base_url(text)
    assert origin.url == url
    assert parse_base_url(origin.url) == origin


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://h:1/v1/chat/completions", "is the path of a request.*as in http://h:1$"),
        ("h:1/chat/completions/", "is the path of a request"),
        ("h:1/base/v1/models", "is the path of a request"),
        ("::1:8000", r"ambiguous.*as in \[::1\]:8000"),
        ("http://fe80::1:9000/v1", r"ambiguous.*as in \[fe80::1\]:9000"),
        ("::1", r"ambiguous.*as in \[::1\]:8000"),
        ("[::1]8000", r"write \[::1\]:8000"),
        ("[::1:8000", r"write \[::1\]:8000"),
        ("[gpu]:8000", "not an IPv6 address"),
        ("[fe80::1%eth0]:8000", "names a network interface"),
        ("gpu", "has no port: write gpu:8000"),
        ("", "the host is empty"),
        ("http://", "the host is empty"),
        (":8000", "the host is empty"),
        ("h:0", "from 1 to 65535, not 0"),
        ("h:65536", "from 1 to 65535, not 65536"),
        ("h:", "must be a number from 1 to 65535"),
        ("h:80a", "must be a number from 1 to 65535"),
        ("h:٨٠", "must be a number from 1 to 65535"),
        ("https://h:1", "asks for TLS"),
        ("ftp://h:1", "must start with http://, not ftp://"),
        ("h:1?a=b", "has a query"),
        ("h:1#a", "has a query or a fragment"),
        ("h:1/a//b", "double slash"),
        ("h:1/../b", "no base path can have"),
        ("h:1/a b", "no base path can have"),
        ("2852039166:80", "is not an IPv4 address"),
        ("0xa9fea9fe:80", "is not an IPv4 address"),
        ("0251.0376.0251.0376:80", "is not an IPv4 address"),
        ("1.2.3:80", "is not an IPv4 address"),
        ("h\r\nx:80", "not a host name"),
        ("-h:80", "not a host name"),
        ("gpü:80", "outside ASCII"),
        ("h" * 3000, "at most 2048 characters"),
    ],
)
def test_what_is_no_base_url_is_refused_with_its_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_base_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://user:s3cret@h:1",
        "user:s3cret@h:1",
        "http://u:/s3cret@h:1",
        "h:1?key=s3cret",
        "https://u:s3cret@h",
        "ftp://u:s3cret@h",
    ],
)
def test_a_refused_password_or_query_is_not_repeated(text: str) -> None:
    with pytest.raises(ValueError) as refused:
        parse_base_url(text)
    assert "s3cret" not in str(refused.value)


@given(st.text(max_size=80))
def test_any_text_is_refused_or_has_a_canonical_form(text: str) -> None:
    with contextlib.suppress(ValueError):
        origin = parse_base_url(text)
        assert parse_base_url(origin.url) == origin


def test_brackets_belong_to_the_text_and_not_to_the_host() -> None:
    assert parse_host("[::1]") == parse_host("::1") == "::1"
    assert Address("::1", 8000).authority == "[::1]:8000"
    assert str(Address("gpu", 8000)) == "gpu:8000"
    assert str(Origin("::1", 8000, "/base")) == "http://[::1]:8000/base"


def test_a_host_with_its_port_is_told_apart_from_a_bad_address() -> None:
    with pytest.raises(ValueError, match="holds a port, which is given apart"):
        parse_host("10.0.0.7:8000")
    with pytest.raises(ValueError, match="not an IPv6 address"):
        parse_host("1:2:3")


def test_host_and_port_come_in_one_text() -> None:
    assert parse_host_port(" [::1]:9001 ") == Address("::1", 9001)
    assert parse_host_port("Gpu:9001") == Address("gpu", 9001)
    with pytest.raises(ValueError, match=r"no port: write \[::1\]:8000"):
        parse_host_port("[::1]")


def test_a_port_is_its_digits() -> None:
    assert parse_port("08000") == 8000
    with pytest.raises(ValueError, match="from 1 to 65535"):
        parse_port("9" * 5000)


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("169.254.169.254", "metadata"),
        ("169.254.1.1", "link-local"),
        ("[fe80::1]", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fd00:ec2::254", "metadata"),
        ("FD00:0EC2:0::254", "metadata"),
        ("100.100.100.200", "metadata"),
        ("metadata.google.internal.", "metadata"),
        ("::ffff:169.254.169.254", "metadata"),
        ("64:ff9b::a9fe:a9fe", "metadata"),
        ("2002:a9fe:a9fe::", "metadata"),
        ("0.0.0.0", "all interfaces"),
        ("0.1.2.3", "all interfaces"),
        ("::", "all interfaces"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("255.255.255.255", "broadcast"),
    ],
)
def test_nothing_may_register_where_no_instance_can_be(host: str, why: str) -> None:
    reason = forbidden_reason(host)
    assert reason is not None
    assert why in reason


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "::1", "10.0.0.7", "192.168.1.2", "fd00::7", "gpu-1", "8.8.8.8"]
)
def test_private_and_loopback_addresses_may_register(host: str) -> None:
    assert forbidden_reason(host) is None


def test_loopback_and_all_interfaces_are_told_apart() -> None:
    assert [is_loopback(host) for host in ("127.0.0.2", "::1", "localhost")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "10.0.0.1", "gpu")] == [False] * 3
    assert [is_unspecified(host) for host in ("0.0.0.0", "::", "127.0.0.1", "gpu")] == [
        True,
        True,
        False,
        False,
    ]
