"""Either every address is bound, or one sentence says which is not, and none is."""

import socket

import pytest

from cacheroute.formats.address import Address
from cacheroute.member.listeners import CannotListen, listeners_at


def a_taken_port() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def test_every_address_is_bound_on_its_own_port() -> None:
    bound = listeners_at(Address("127.0.0.1", 0), Address("127.0.0.1", 0))

    ports = [listener.getsockname()[1] for [listener] in bound]
    assert 0 not in ports
    assert len(set(ports)) == 2
    for [listener] in bound:
        listener.close()


def test_what_was_bound_before_the_taken_one_is_given_back() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    with a_taken_port() as other:
        taken = other.getsockname()[1]

        with pytest.raises(CannotListen) as refused:
            listeners_at(Address("127.0.0.1", free), Address("127.0.0.1", taken))

    assert str(refused.value) == f"cannot listen on 127.0.0.1:{taken}: Address already in use"
    with socket.socket() as again:
        again.bind(("127.0.0.1", free))


def test_a_version_six_address_is_told_in_brackets() -> None:
    error = CannotListen(Address("::1", 80), OSError(98, "Address already in use"))

    assert str(error) == "cannot listen on [::1]:80: Address already in use"


def test_a_name_that_no_resolver_takes_is_told_too() -> None:
    with pytest.raises(CannotListen, match=r"^cannot listen on a\.\.b:80: "):
        listeners_at(Address("a..b", 80))
