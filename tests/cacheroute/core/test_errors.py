import inspect

import pytest

from cacheroute.core import errors
from cacheroute.core.errors import CacheRouteError, ConfigError, UpstreamError

KINDS = [
    kind
    for kind in vars(errors).values()
    if inspect.isclass(kind) and issubclass(kind, CacheRouteError)
]

TABLE = {
    "CacheRouteError": ("internal_error", 500),
    "RequestError": ("bad_request", 400),
    "InvalidJson": ("invalid_json", 400),
    "InvalidPayload": ("invalid_request_payload", 400),
    "ModelNotFound": ("model_not_found", 404),
    "CapacityError": ("no_instance", 503),
    "NoInstanceError": ("no_instance", 503),
    "Overloaded": ("all_overloaded", 503),
    "QueueFull": ("queue_full", 429),
    "Draining": ("draining", 503),
    "UpstreamError": ("upstream_error", 502),
    "UpstreamConnectError": ("upstream_connect_failed", 502),
    "UpstreamClosed": ("upstream_closed", 502),
    "UpstreamProtocolError": ("upstream_protocol_error", 502),
    "UpstreamConnectTimeout": ("upstream_connect_failed", 504),
    "UpstreamLeft": ("upstream_left", 502),
    "UpstreamGivenUp": ("draining", 503),
    "UpstreamTimeout": ("upstream_timeout", 504),
    "ConfigError": ("bad_config", 500),
}
"""What the wire tells of each."""


def test_every_error_has_the_code_and_status_that_callers_know() -> None:
    found = {kind.__name__: (kind.code, kind.status) for kind in KINDS}
    assert {name: found.get(name) for name in TABLE} == TABLE
    assert found.keys() <= TABLE.keys(), "an error that this table does not know"


def test_only_what_an_instance_did_may_be_tried_elsewhere() -> None:
    retryable = {kind.__name__ for kind in KINDS if kind.retryable}
    upstream = {kind.__name__ for kind in KINDS if issubclass(kind, UpstreamError)}
    assert retryable == upstream - {"UpstreamGivenUp", "UpstreamTimeout"}


@pytest.mark.parametrize(
    "kind", [k for k in KINDS if not issubclass(k, (UpstreamError, ConfigError))]
)
def test_an_error_is_its_sentence(kind: type[CacheRouteError]) -> None:
    error = kind("The pool is empty.", retry_after_s=2.0)
    assert str(error) == error.message == "The pool is empty."
    assert error.retry_after_s == 2.0
    assert kind("x").retry_after_s is None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if issubclass(kind, UpstreamError)])
def test_an_instances_error_names_the_instance(kind: type[UpstreamError]) -> None:
    error = kind("10.0.0.7:8000 closed.", peer="10.0.0.7:8000")
    assert (error.peer, error.message) == ("10.0.0.7:8000", "10.0.0.7:8000 closed.")


def test_an_address_gives_way_to_the_name_of_its_instance() -> None:
    error = UpstreamError("No connection to 10.0.0.7:8000: refused.", peer="10.0.0.7:8000")
    error.rename_peer("i-1")
    assert str(error) == error.message == "No connection to i-1: refused."
    assert error.for_operator == "No connection to 10.0.0.7:8000: refused."


def test_every_problem_of_the_settings_is_told_at_once() -> None:
    error = ConfigError(["proxy.port: too large", "control.host: no host"])
    assert error.problems == ["proxy.port: too large", "control.host: no host"]
    assert str(error) == "proxy.port: too large\ncontrol.host: no host"
