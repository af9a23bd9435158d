from typing import Any

import pytest

from cacheroute.core.engine.profile import PROFILES
from cacheroute.demo import identity
from cacheroute.demo.kv_options import KvOptions
from cacheroute.demo.options import InstanceOptions


def body(**options: Any) -> dict[str, Any]:
    return identity.registration(InstanceOptions(**options), 9005)


def test_an_instance_is_named_after_its_address() -> None:
    assert body()["instance_id"] == "hp_127.0.0.1:9005"
    assert body(instance_id="i-1")["instance_id"] == "i-1"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_a_wildcard_is_never_advertised(host: str) -> None:
    assert body(host=host)["host"] == "127.0.0.1"


def test_what_is_advertised_outranks_what_is_listened_on() -> None:
    told = body(advertise_host="10.0.0.1", advertise_port=80)
    assert (told["host"], told["port"]) == ("10.0.0.1", 80)
    assert told["instance_id"] == "hp_10.0.0.1:80"


def test_the_control_plane_port_is_told_even_when_it_is_the_same() -> None:
    assert body()["meta"]["cp_port"] == 9005
    assert body(cp_port=9002)["meta"]["cp_port"] == 9002


def test_model_weight_and_tags_are_told() -> None:
    told = body(model="m", weight=2.0, tags=("a",))
    assert (told["meta"]["model"], told["weight"], told["tags"]) == ("m", 2.0, ["a"])
    assert told["endpoints"][:2] == ["chat/completions", "completions"]


def test_the_capabilities_are_those_that_a_proxy_takes() -> None:
    from cacheroute.wire.instances import RegisterBody

    taken = RegisterBody.model_validate(body(model="m"))
    assert taken.capabilities is not None
    assert taken.capabilities.model.identifier == "m"
    assert taken.capabilities.kv_cache.block_size == 512
    assert taken.capabilities.parallelism.tensor_parallel_size == 1


def test_a_model_on_several_cards_says_so() -> None:
    told = body(profile=PROFILES["llama70b"])
    assert told["capabilities"]["parallelism"]["tensor_parallel_size"] == 8


def test_only_an_instance_with_a_store_takes_kv_from_outside() -> None:
    kv = KvOptions(password="secret")
    with_store, without = body(kv=kv), body()
    features = with_store["capabilities"]["runtime"]["supported_cache_features"]
    assert features == ["chunked_prefill", "kv_injection", "prefix_caching"]
    assert "kv_injection" not in without["capabilities"]["runtime"]["supported_cache_features"]
    assert "secret" not in str(with_store)
