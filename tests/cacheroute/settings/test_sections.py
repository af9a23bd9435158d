import pytest
from pydantic import SecretStr, ValidationError

from cacheroute.core.rules import PoolRules
from cacheroute.formats.address import Address
from cacheroute.settings.sections import (
    ControlSettings,
    PoolSettings,
    ProxySettings,
    StrategySettings,
)


def test_a_proxy_is_named_by_what_it_advertises() -> None:
    assert ProxySettings().id_at() == "hp_127.0.0.1:8001"
    assert ProxySettings(id="east").id_at() == "east"
    assert ProxySettings(host="[::1]", port=0).id_at(43210) == "hp_[::1]:43210"


def test_all_interfaces_are_bound_but_never_advertised() -> None:
    assert ProxySettings(host="0.0.0.0").advertised() == Address("127.0.0.1", 8001)
    proxy = ProxySettings(host="::", advertise_host="gpu-1", advertise_port=80)
    assert proxy.advertised(bound_port=9) == Address("gpu-1", 80)
    with pytest.raises(ValidationError, match="means all interfaces"):
        ProxySettings(advertise_host="0.0.0.0")


def test_a_port_may_be_any_free_one_but_not_be_advertised_as_such() -> None:
    assert ProxySettings(port=0).port == 0
    with pytest.raises(ValidationError):
        ProxySettings(advertise_port=0)
    with pytest.raises(ValidationError):
        ProxySettings(port=65536)


def test_paths_the_proxy_answers_itself_cannot_be_passed_through() -> None:
    assert ProxySettings(passthrough_paths=("/v1/x/",)).passthrough_paths == ("/v1/x",)
    with pytest.raises(ValidationError, match="answered by the Proxy itself"):
        ProxySettings(passthrough_paths=("/v1/completions",))


def test_the_default_list_of_paths_holds_no_path_of_our_own() -> None:
    paths = ProxySettings().passthrough_paths
    assert ProxySettings(passthrough_paths=paths).passthrough_paths == paths
    assert "/v1/embeddings" in paths


@pytest.mark.parametrize(
    ("host", "token", "exposed"),
    [
        ("127.0.0.1", None, False),
        ("localhost", None, False),
        ("::1", None, False),
        ("0.0.0.0", None, True),
        ("10.0.0.7", None, True),
        ("0.0.0.0", SecretStr("t"), False),
    ],
)
def test_a_control_plane_is_exposed_beyond_loopback_without_a_token(
    host: str, token: SecretStr | None, exposed: bool
) -> None:
    assert ControlSettings(host=host, token=token).is_exposed is exposed


def test_a_token_is_not_in_any_text_of_its_section() -> None:
    control = ControlSettings.model_validate({"token": "s3cret-token"})
    assert control.token is not None
    assert control.token.get_secret_value() == "s3cret-token"
    assert "s3cret" not in repr(control) + str(control) + control.model_dump_json()


def test_the_pool_section_is_the_rules_of_the_pool() -> None:
    assert isinstance(PoolSettings(ttl_s=7.0), PoolRules)
    with pytest.raises(ValueError, match=r"^ttl_s must be a positive"):
        PoolSettings(ttl_s=-1.0)


@pytest.mark.parametrize("alias", ["ll", "least-load", "least_load", "LL"])
def test_a_strategy_goes_by_any_of_its_names(alias: str) -> None:
    assert StrategySettings(name=alias).name == "least_load"


def test_an_unknown_strategy_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValidationError, match=r"no strategy is called 'random'; .*round_robin.*ll"):
        StrategySettings(name="random")


def test_a_pool_that_is_always_full_means_nothing() -> None:
    assert ProxySettings(max_capacity=1).max_capacity == 1
    with pytest.raises(ValidationError, match="greater than 0"):
        ProxySettings(max_capacity=0)
