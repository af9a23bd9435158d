"""From a registration to an Instance."""

import pytest

from cacheroute.planes.control_owner import ControlRules
from cacheroute.planes.registering import forbidden, instance_behind, instance_of, origin_of
from cacheroute.wire.capabilities import Capabilities
from cacheroute.wire.instances import RegisterBody
from tests.cacheroute.core.pool_builders import an_instance


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", "http://127.0.0.1:9001"),
        (" GPU-7.Lab ", "http://gpu-7.lab:9001"),
        ("127.0.0.1:9001", "http://127.0.0.1:9001"),
        ("127.0.0.1/", "http://127.0.0.1:9001"),
        ("127.0.0.1/v1", "http://127.0.0.1:9001"),
        ("127.0.0.1:9001/v1/", "http://127.0.0.1:9001"),
        ("127.0.0.1/base/v1/", "http://127.0.0.1:9001/base"),
        ("http://gate/base", "http://gate:9001/base"),
        ("http://gate:9001/base/", "http://gate:9001/base"),
        ("::1", "http://[::1]:9001"),
        ("0:0::1", "http://[::1]:9001"),
        ("[::1]", "http://[::1]:9001"),
        ("[::1]:9001", "http://[::1]:9001"),
        ("http://[::1]/v1", "http://[::1]:9001"),
    ],
)
def test_an_address_is_read_in_every_form(host: str, expected: str) -> None:
    assert origin_of(host, 9001).url == expected


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("::1:9001", "ambiguous"),
        ("fe80::2:9001", "[fe80::2]:9001"),
        ("127.0.0.1:9002", "port 9002"),
        ("http://gate:80", "port 80"),
        ("https://gate", "TLS"),
        ("gopher://gate", "http://"),
        ("file:///etc/passwd", "http://"),
        ("http://user:pw@gate", "user name"),
        ("gate/v1/chat/completions", "request"),
        ("2852039166", "IPv4"),
        ("a b", "host name"),
        ("   ", "empty"),
        ("http://", "empty"),
        ("[::1", "[::1"),
    ],
)
def test_an_address_that_is_none_is_told_why(host: str, says: str) -> None:
    with pytest.raises(ValueError) as refused:
        origin_of(host, 9001)
    assert says in str(refused.value)


def test_the_id_follows_the_canonical_address() -> None:
    body = RegisterBody(host="[0::1]", port=9001, tags=["a", "b", "a"])
    instance = instance_of(body, 5.0)
    assert instance.instance_id == "hp_[::1]:9001"
    assert instance.tags == ("a", "b")
    assert instance.registered_wall_s == 5.0
    assert instance.origin == "registered"


def test_a_base_path_is_part_of_the_default_id() -> None:
    assert instance_of(RegisterBody(host="gate/a", port=80), 0.0).instance_id == "hp_gate:80/a"


def test_capabilities_are_stored_with_every_key() -> None:
    body = RegisterBody(host="h", port=1, capabilities=Capabilities())
    stored = instance_of(body, 0.0).capabilities
    assert stored is not None
    assert set(stored) == {
        "schema_version", "model", "tokenizer", "adapters", "kv_cache", "parallelism", "runtime",
    }  # fmt: skip


def test_an_instance_is_known_again_by_a_default_id() -> None:
    again = instance_behind("hp_[::1]:9001", Capabilities(), 0.0)
    assert again is not None
    assert (again.instance_id, again.host, again.port) == ("hp_[::1]:9001", "::1", 9001)
    assert instance_behind("i-1", Capabilities(), 0.0) is None
    assert instance_behind("hp_a..b:80", Capabilities(), 0.0) is None


RULES = ControlRules(own_hosts=frozenset({"10.0.0.1", "gate"}), own_ports=frozenset({8001}))


@pytest.mark.parametrize(
    ("host", "port", "code"),
    [
        ("10.0.0.7", 8001, None),
        ("127.0.0.1", 9001, None),
        ("127.0.0.1", 8001, "own_address"),
        ("localhost", 8001, "own_address"),
        ("gate", 8001, "own_address"),
        ("gate", 9001, None),
        ("169.254.169.254", 80, "forbidden_address"),
        ("fe80::1", 80, "forbidden_address"),
    ],
)
def test_some_places_are_never_an_instance(host: str, port: int, code: str | None) -> None:
    barred = forbidden(an_instance(host=host, port=port), RULES)
    assert (barred.code if barred else None) == code
    assert barred is None or host in barred.detail
