import pytest
from pydantic import SecretStr, ValidationError

from cacheroute.settings.instances import SEPARATOR, Backend, StaticInstance, parse_static_instance


def test_a_url_is_an_instance_named_by_its_address() -> None:
    instance = parse_static_instance("http://10.0.0.7:8000/base/v1/")
    assert instance.name == "10.0.0.7:8000/base"
    assert instance.origin.url == "http://10.0.0.7:8000/base"
    assert instance.api_key is None
    assert parse_static_instance(instance) is instance


def test_a_key_may_follow_the_url() -> None:
    instance = parse_static_instance("gpu:8000, api_key=k-123")
    assert instance.api_key == SecretStr("k-123")
    assert "k-123" not in repr(instance)


@pytest.mark.parametrize("given", ["gpu:8000,key=1", "gpu:8000,", 5, None, {"url": "gpu:8000"}])
def test_what_is_no_url_with_a_key_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"base URLs|only api_key"):
        parse_static_instance(given)


def test_commas_part_instances_but_not_a_key_from_its_url() -> None:
    assert SEPARATOR.split("a:1,b:2,api_key=k,c:3") == ["a:1", "b:2,api_key=k", "c:3"]


def test_a_backend_is_a_static_instance_with_a_name() -> None:
    backend = Backend.model_validate(
        {
            "name": "local",
            "url": "http://gpu:8000/v1",
            "type": "vllm",
            "model_name": "llama",
            "max_concurrent": 4,
            "api_key": "k-123",
            "capabilities": ["vision"],
            "cost_input_1m": 0.5,
        }
    )
    assert backend.instance == StaticInstance(
        name="local",
        origin=backend.url,
        api_key=SecretStr("k-123"),
        model_name="llama",
        max_concurrent=4,
        health_endpoint="/v1/models",
    )
    assert "k-123" not in repr(backend)


def test_a_backend_without_options_is_unlimited_and_probed_as_the_pool_says() -> None:
    instance = Backend.model_validate({"name": "a", "url": "gpu:1", "model_name": ""}).instance
    assert instance.max_concurrent is None
    assert instance.health_endpoint is None
    assert instance.model_name is None


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("type", "gemini", "the OpenAI paths only"),
        ("type", "other", "vllm"),
        ("max_concurrent", 0, "greater than 0"),
        ("cost_input_1m", -1, "greater than or equal to 0"),
        ("cost_input_1m", float("nan"), "."),
        ("api_key", "", "leave it out for none"),
        ("health_endpoint", "health", "such as /v1/embeddings"),
        ("url", "gpu:1/v1/chat/completions", "is the path of a request"),
        ("url", 7, "Origin"),
    ],
)
def test_a_bad_option_of_a_backend_is_refused(field: str, value: object, why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        Backend.model_validate({"name": "a", "url": "gpu:1"} | {field: value})
