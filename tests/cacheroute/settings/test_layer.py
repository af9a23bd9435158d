from collections.abc import Mapping

import pytest

from cacheroute.settings.layer import Layer, Written, children, render_inner, unknown_key, verdict
from cacheroute.settings.values import InnerPath


def written(label: str = "here", inner: Mapping[InnerPath, str] | None = None) -> Written:
    return Written(origin=label, label=label, inner_labels=inner or {})


def path(key: str) -> tuple[str, ...]:
    return tuple(key.split("."))


def test_a_value_is_kept_with_where_it_was_written() -> None:
    layer = Layer(environ={})
    layer.put(path("pool.ttl_s"), "5m", written("a.yaml:3"))
    given = layer.given[path("pool.ttl_s")]
    assert (given.value, given.written.origin) == (300.0, "a.yaml:3")


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("proxy.prot", "proxy.port"),
        ("pool.ejecton", "pool.ejection"),
        ("pool.ejection.failure", "pool.ejection.failures"),
        ("pool.ttl", "pool.ttl_s"),
        ("proxy.max-capacity", "proxy.max_capacity"),
        ("port", "proxy.port"),
        ("proxy.ttl_s", "pool.ttl_s"),
        ("server.prt", "server.port"),
        ("timeout.connect_s", "timeouts.connect_s"),
    ],
)
def test_an_unknown_key_is_answered_with_the_nearest_one(key: str, meant: str) -> None:
    assert unknown_key(path(key)) == f"unknown key; did you mean {meant}?"


def test_a_key_that_is_near_nothing_is_answered_with_what_there_is() -> None:
    assert unknown_key(("strategy", "zzz")) == ("unknown key; at strategy there are name, weights")
    assert unknown_key(("zzz", "qqq")) == "unknown key"


def test_keys_left_out_on_purpose_are_warned_about() -> None:
    layer = Layer(environ={})
    layer.put(("batching",), {"enabled": True}, written())
    layer.put(path("server.branding.headers"), True, written())
    assert layer.warnings == ["here: has no effect here"] * 2
    assert layer.problems == []


@pytest.mark.parametrize(
    "key", ["rules", "budgets", "quality_gate.enabled", "server.kv_pinning", "server.sessions.ttl"]
)
def test_what_this_version_cannot_honour_is_refused_as_such(key: str) -> None:
    outcome = verdict(path(key))
    assert outcome is not None
    assert outcome[0]
    assert outcome[1].startswith("this version does not have ")


@pytest.mark.parametrize("keys", [("server.port", "proxy.port"), ("proxy.port", "server.port")])
def test_a_gateway_key_counts_whatever_the_order(keys: tuple[str, str]) -> None:
    ports = {"server.port": 8050, "proxy.port": 8001}
    layer = Layer(environ={})
    for key in keys:
        layer.put(path(key), ports[key], written())
    assert layer.given[path("proxy.port")].value == 8050
    assert len(layer.warnings) == 1
    assert "server.port counts" in layer.warnings[0]


def test_the_same_key_again_is_no_conflict() -> None:
    layer = Layer(environ={})
    layer.put(path("server.port"), 1, written())
    layer.put(path("server.port"), 2, written())
    assert layer.given[path("proxy.port")].value == 2
    assert layer.warnings == []


def test_unknown_keys_inside_a_list_are_refused_each_with_its_place() -> None:
    layer = Layer(environ={})
    entry = {"name": "a", "url": "gpu:1", "max_concurent": 3, "circuit_breaker": {}}
    inner: dict[InnerPath, str] = {(0, "max_concurent"): "a.yaml:9: backends[0].max_concurent"}
    layer.put(("backends",), [entry, "text"], written("a.yaml:7: backends", inner))
    assert layer.problems == [
        "a.yaml:9: backends[0].max_concurent: unknown key; did you mean max_concurrent?",
        "a.yaml:7: backends[0].circuit_breaker: "
        "this version does not have circuit_breaker of backends; take it out",
    ]
    assert layer.given[("backends",)].value == [{"name": "a", "url": "gpu:1"}, "text"]


def test_a_reference_may_stand_for_a_whole_list() -> None:
    layer = Layer(environ={"PEERS": "a:1,b:2"})
    layer.put(path("pool.instances"), "env:PEERS", written())
    assert layer.given[path("pool.instances")].value == ["a:1", "b:2"]


def test_a_missing_reference_inside_a_list_is_named_with_its_place() -> None:
    layer = Layer(environ={})
    layer.put(("backends",), [{"name": "a", "url": "env:NOPE"}], written("backends"))
    assert layer.problems == ["backends[0].url: the environment variable NOPE is not set"]
    assert layer.given == {}


def test_secrets_are_noted_whether_or_not_the_value_is_good() -> None:
    layer = Layer(environ={"KEY": "hush-hush"})
    layer.put(path("control.token"), "literal-token", written())
    layer.put(path("backends"), [{"api_key": "env:KEY"}], written())
    assert layer.hidden == {"literal-token": "…", "hush-hush": "env:KEY"}


def test_the_label_of_something_inside_is_the_nearest_known_one() -> None:
    place = written("b", {(0,): "a.yaml:2: b[0]"})
    assert place.label_of((0, "url")) == "a.yaml:2: b[0].url"
    assert place.label_of((1, "url")) == "b[1].url"
    assert render_inner(("x", 0, "y")) == ".x[0].y"


def test_the_section_of_the_gateway_lists_its_keys() -> None:
    assert children(("server",)) == ("port", "health_check_interval", "default_timeout")
    assert children(("proxy", "port")) == ()
