"""What an Instance says about itself."""

import pytest

from cacheroute.core.instance import (
    Instance,
    address_in_default_id,
    authority,
    declared_models,
    default_instance_id,
)
from tests.cacheroute.core.pool_builders import an_instance


def test_an_ipv6_host_goes_in_brackets() -> None:
    assert an_instance(host="::1", port=8000).authority == "[::1]:8000"
    assert authority("localhost", 8000) == "localhost:8000"


def test_the_default_id_is_the_published_one() -> None:
    assert default_instance_id("127.0.0.1", 9001) == "hp_127.0.0.1:9001"
    assert default_instance_id("::1", 9001) == "hp_[::1]:9001"
    assert default_instance_id("gate", 80, "/a") == "hp_gate:80/a"


@pytest.mark.parametrize(
    ("instance_id", "expected"),
    [
        ("hp_127.0.0.1:9001", ("127.0.0.1", 9001)),
        ("hp_gpu-7.lab:80", ("gpu-7.lab", 80)),
        ("hp_[::1]:9001", ("::1", 9001)),
        ("hp_::1:9001", ("::1", 9001)),
        ("i-1", None),
        ("hp_host", None),
        ("hp_:9001", None),
        ("hp_host:0", None),
        ("hp_host:65536", None),
        ("hp_host:12345678901234567890", None),
        ("hp_host:٣", None),
        ("hp_gate:80/a", None),
    ],
)
def test_an_address_is_read_back_out_of_a_default_id(
    instance_id: str, expected: tuple[str, int] | None
) -> None:
    assert address_in_default_id(instance_id) == expected


@pytest.mark.parametrize(
    ("capabilities", "meta", "expected"),
    [
        (None, {}, None),
        ({"model": {"identifier": None}, "adapters": []}, {}, None),
        ({"model": {"identifier": "m0"}}, {}, {"m0"}),
        (None, {"model": "m1"}, {"m1"}),
        (None, {"models": ["m1", "m2", "", 3]}, {"m1", "m2"}),
        ({"model": {"identifier": "m0"}}, {"model": "m1"}, {"m0", "m1"}),
        (
            {"model": {"identifier": "m0"}, "adapters": [{"identifier": "lora-a"}]},
            {},
            {"m0", "lora-a"},
        ),
        ({"model": "m0"}, {"models": {"m": 1}}, None),
        ({"adapters": [{"identifier": "lora-a"}]}, {}, None),
    ],
)
def test_models_are_what_capabilities_and_meta_name(
    capabilities: dict[str, object] | None,
    meta: dict[str, object],
    expected: set[str] | None,
) -> None:
    assert declared_models(capabilities, meta) == expected


def test_no_endpoints_means_every_endpoint() -> None:
    assert an_instance().serves("chat/completions")
    assert an_instance(endpoints=("embeddings",)).serves("embeddings")
    assert not an_instance(endpoints=("embeddings",)).serves("chat/completions")


def test_a_key_is_never_shown() -> None:
    secret = Instance(instance_id="i-1", host="h", port=1, api_key="sk-secret")
    assert "sk-secret" not in repr(secret)


def test_one_url_may_be_configured_once_for_each_model() -> None:
    one = an_instance("a", model_override="m0")
    other = an_instance("b", model_override="m1")
    assert one.address != other.address
