"""A taken port has an owner, and a free one has none."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from cacheroute_cli.diagnostics import Exit
from cacheroute_cli.supervisor.faults import PortTaken
from cacheroute_cli.supervisor.ports import (
    Wanted,
    free_port,
    is_free,
    owner_of,
    read_port,
    require_free,
    without_secrets,
)


@pytest.mark.parametrize(
    ("text", "port"),
    [
        ("0", 0),
        ("8080", 8080),
        ("65535", 65_535),
        ("65536", None),
        ("9" * 5000, None),
        ("-1", None),
        ("²", None),
        ("", None),
        ("auto", None),
    ],
)
def test_a_port_is_read_or_it_is_none(text: str, port: int | None) -> None:
    assert read_port(text) == port


def test_a_free_port_can_be_had() -> None:
    port = free_port()

    assert port > 0
    assert is_free("127.0.0.1", port)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def test_the_owner_of_a_taken_port_is_named_by_pid_and_command(taken_port: int) -> None:
    owner = owner_of(taken_port)

    assert owner is not None
    assert owner.pid == os.getpid()
    assert "python" in (owner.command or "")


def test_a_port_on_version_six_is_looked_up_too() -> None:
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with closing(server):
        port = server.getsockname()[1]

        assert not is_free("::1", port)
        owner = owner_of(port)

    assert owner is not None
    assert owner.pid == os.getpid()


def test_an_address_of_another_host_is_nobodys_port() -> None:
    # What is in the way is told by the program that is to listen there.
    assert is_free("192.0.2.1", 9)


@pytest.mark.parametrize("host", ["a..b", "x" * 64])
def test_a_name_that_cannot_be_is_left_to_the_program(host: str) -> None:
    assert is_free(host, 9)


def test_a_free_port_is_free_and_owned_by_nobody(taken_port: int) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]

    assert is_free("127.0.0.1", port)
    assert owner_of(port) is None
    assert not is_free("127.0.0.1", taken_port)


def test_port_zero_is_always_free() -> None:
    assert is_free("127.0.0.1", 0)


def test_a_conflict_names_the_port_its_purpose_its_owner_and_the_way_out(taken_port: int) -> None:
    wanted = Wanted(host="127.0.0.1", port=taken_port, purpose="control plane", option="--cp-port")

    with pytest.raises(PortTaken) as caught:
        require_free([wanted])

    fault = caught.value
    assert fault.exit == Exit.CONFLICT
    assert f"port {taken_port} for the control plane is taken by pid {os.getpid()}" in fault.message
    assert fault.details["pid"] == os.getpid()
    assert "--cp-port" in (fault.hint or "")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("p --instance http://a:1,api_key=sk-1 -x", "p --instance http://a:1,api_key=*** -x"),
        ("p --instance http://a:1,api_key=env:K", "p --instance http://a:1,api_key=env:K"),
        ("p --set control.token=s3 --port 1", "p --set control.token=*** --port 1"),
        ("p --token s3 --port 1", "p --token *** --port 1"),
        ("vllm serve m --api-key=sk-1", "vllm serve m --api-key=***"),
        ("vllm serve m --tokenizer t --max-tokens 9", "vllm serve m --tokenizer t --max-tokens 9"),
        (None, None),
    ],
)
def test_the_owner_of_a_port_is_told_without_its_secrets(
    typed: str | None, told: str | None
) -> None:
    assert without_secrets(typed) == told


def test_all_conflicts_are_told_at_once(taken_port: int) -> None:
    wanted = [
        Wanted(host="127.0.0.1", port=taken_port, purpose=purpose) for purpose in ("one", "other")
    ]

    with pytest.raises(PortTaken) as caught:
        require_free(wanted)

    assert len(caught.value.message.splitlines()) == 2


def test_free_ports_pass_silently() -> None:
    require_free([Wanted(host="127.0.0.1", port=0, purpose="anything")])
