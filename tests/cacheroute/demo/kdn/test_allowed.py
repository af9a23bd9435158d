import pytest

from cacheroute.demo.kdn.allowed import Allowed
from cacheroute.demo.kdn.refused import Refused
from cacheroute.formats.address import Address


def allowed(*listed: Address) -> Allowed:
    return Allowed(listed, what="Redis", option="--redis")


def status_of(host: str, port: int, *listed: Address) -> int:
    with pytest.raises(Refused) as refused:
        allowed(*listed).check(host, port)
    return refused.value.status


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1"])
def test_without_a_list_this_machine_may_be_named(host: str) -> None:
    assert allowed().check(host, 6379).port == 6379


@pytest.mark.parametrize("host", ["10.0.0.5", "169.254.169.254", "redis.example", "0.0.0.0"])
def test_without_a_list_nobody_else_may(host: str) -> None:
    assert status_of(host, 6379) == 403


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "a b", "a/b", "x@y"])
def test_an_address_that_hides_what_it_is_cannot_be(host: str) -> None:
    assert status_of(host, 6379) == 400


def test_with_a_list_only_what_is_on_it() -> None:
    listed = Address("10.0.0.5", 6379)

    assert allowed(listed).check("10.0.0.5", 6379) == listed
    assert status_of("10.0.0.5", 6380, listed) == 403
    assert status_of("127.0.0.1", 6379, listed) == 403
